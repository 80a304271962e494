/** For a message: what somebody sent, quoted, control characters escaped, cut off behind so many characters. */
export function quoteText(text: string, longest = 100): string {
  return JSON.stringify(text.length > longest ? `${text.slice(0, longest)}…` : text);
}
