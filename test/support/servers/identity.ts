import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export const IDENTITY_TOKEN = 'header.of-this-run.signature'

/** Whom a workflow asks for its token, and a cloud that gives credentials for it. */
export async function startIdentity(credentials: Record<string, string>) {
  const asked: Record<string, string | null | undefined>[] = []
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (request.method === 'GET') {
      asked.push({ audience: url.searchParams.get('audience'), bearer: request.headers.authorization })
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ value: IDENTITY_TOKEN }))
      return
    }
    let body = ''
    for await (const chunk of request) body += chunk
    const form = new URLSearchParams(body)
    asked.push({ action: form.get('Action'), role: form.get('RoleArn'), token: form.get('WebIdentityToken') })
    if (form.get('RoleArn') !== 'arn:aws:iam::1:role/build') {
      response
        .writeHead(403, { 'content-type': 'text/xml' })
        .end(`<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
        <Error><Type>Sender</Type><Code>AccessDenied</Code><Message>Not authorized to perform sts:AssumeRoleWithWebIdentity</Message></Error>
        <RequestId>1</RequestId></ErrorResponse>`)
      return
    }
    response
      .setHeader('content-type', 'text/xml')
      .end(`<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
      <AssumeRoleWithWebIdentityResult>
        <AssumedRoleUser><Arn>arn:aws:sts::1:assumed-role/build/mountglass</Arn><AssumedRoleId>A:mountglass</AssumedRoleId></AssumedRoleUser>
        <Credentials>
          <AccessKeyId>${credentials.AWS_ACCESS_KEY_ID}</AccessKeyId>
          <SecretAccessKey>${credentials.AWS_SECRET_ACCESS_KEY}</SecretAccessKey>
          <SessionToken></SessionToken>
          <Expiration>${new Date(Date.now() + 3_600_000).toISOString()}</Expiration>
        </Credentials>
      </AssumeRoleWithWebIdentityResult>
      <ResponseMetadata><RequestId>1</RequestId></ResponseMetadata>
    </AssumeRoleWithWebIdentityResponse>`)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = {
    ACTIONS_ID_TOKEN_REQUEST_URL: `${origin}/token?api-version=2.0`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-run',
    AWS_ENDPOINT_URL_STS: origin,
  }
  return { asked, env }
}
