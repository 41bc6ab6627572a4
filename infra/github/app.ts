/** A GitHub App, as its owner registered it. */
export interface GitHubApp {
  id: string
  clientId: string
  clientSecret: string
  /** PKCS#8 PEM. */
  privateKey: string
  /** Name in URLs; `null`: unknown. */
  slug: string | null
}
