/** A list of words that have no spaces. */
export const words = (text: string): readonly string[] => text.split(' ')
