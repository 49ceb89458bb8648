/** The numbers of the signals in a mask, as the kernel writes it. */
export function signalsIn(mask: string): Set<number> {
  const bits = BigInt(`0x${mask}`)
  return new Set(Array.from({ length: 64 }, (_, index) => index + 1).filter((signal) => (bits >> BigInt(signal - 1)) & 1n))
}
