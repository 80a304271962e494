/** Quotes text from outside for a message: control characters are escaped, and a text longer than `longest` is cut. */
export function quoteText(text: string, longest = 60): string {
  return JSON.stringify(text.length > longest ? `${text.slice(0, longest)}…` : text);
}
