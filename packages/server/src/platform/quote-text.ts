/** Quotes untrusted text for a message. Control characters are escaped, and text beyond `longest` characters is cut. */
export function quoteText(text: string, longest = 60): string {
  return JSON.stringify(text.length > longest ? `${text.slice(0, longest)}…` : text);
}
