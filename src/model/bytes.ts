/**
 * Arguments and variables are bytes, and not always UTF-8. Such a one is kept as text in which each byte from 0x80 on is a lone surrogate
 * (U+DC80…U+DCFF), which no real text holds, so that the very same bytes can be given on.
 */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return Array.from(bytes, (byte) => String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte)).join('')
  }
}

export function bytesOf(text: string): Uint8Array {
  const encoder = new TextEncoder()
  if (!/\p{Cs}/u.test(text)) return encoder.encode(text)
  return Uint8Array.from([...text].flatMap((character) => (isByte(character) ? [character.charCodeAt(0) - 0xdc00] : [...encoder.encode(character)])))
}

const isByte = (character: string): boolean => character.length === 1 && character >= '\uDC80' && character <= '\uDCFF'
