/** The addresses of web pages in a text. Those with a placeholder for a host, such as `https://YOUR-SITE.example`, are left out. */
export function linksIn(text: string): readonly string[] {
  const found = (text.match(/https:\/\/[^\s<>"]+/g) ?? []).map(withoutPunctuation);
  return [...new Set(found)].filter((link) => URL.canParse(link) && link.startsWith(`https://${new URL(link).host}`));
}

/** A full stop or a closing parenthesis at the end belongs to the sentence. */
function withoutPunctuation(link: string): string {
  let end = link.length;
  while (end > 0 && '.,;:)'.includes(link[end - 1] ?? '')) end -= 1;
  return link.slice(0, end);
}
