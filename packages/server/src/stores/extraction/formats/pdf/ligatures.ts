/** Replaces ligatures and presentation forms by letters. */
export function withoutLigatures(text: string): string {
  return text.replace(/[\ufb00-\ufb06\ufb50-\ufdff\ufe70-\ufefc]+/g, (forms) => forms.normalize('NFKC'));
}
