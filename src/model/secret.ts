/** Where a secret lies. The secret itself is never in a configuration, an argument, a log or an event. */
export type SecretRef = { readonly file: string } | { readonly env: string } | { readonly command: readonly string[] }

export interface Secrets {
  /** Throws with a sentence that names the place, and never the secret. */
  read(ref: SecretRef): Promise<string>
}
