/** Reads small JSON documents of the public web whose URLs strangers choose. */
export interface WebDocuments {
  /** Reads the document, or says that it cannot be read. Never rejects. */
  read(url: string): Promise<WebDocument>
}

export type WebDocument =
  /** `maxAgeSeconds`: how long the document may be used; `null` when it does not say. */
  | { status: 'ok'; text: string; maxAgeSeconds: number | null }
  /** The URL is not permitted, or its answer is not a document of the expected type. */
  | { status: 'refused' }
  /** It does not answer in time, or too many documents are being read. */
  | { status: 'unavailable' }
