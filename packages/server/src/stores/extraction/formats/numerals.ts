const romans = Object.entries({
  m: 1000,
  cm: 900,
  d: 500,
  cd: 400,
  c: 100,
  xc: 90,
  l: 50,
  xl: 40,
  x: 10,
  ix: 9,
  v: 5,
  iv: 4,
  i: 1,
});

/** Writes a number in Roman numerals of small letters. Numbers that have no such form are decimal. */
export function toRoman(value: number): string {
  if (value < 1 || value > 3999) return String(value);
  let [rest, text] = [value, ''];
  for (const [letters, worth] of romans) for (; rest >= worth; rest -= worth) text += letters;
  return text;
}

/** Writes a number as a letter: after z comes aa, then bb. Numbers that are too large are decimal. */
export function toLetters(value: number): string {
  if (value < 1 || value > 780) return String(value);
  return String.fromCharCode(97 + ((value - 1) % 26)).repeat(Math.ceil(value / 26));
}

/** Lists the first numbers, and how many others there are. */
export function listed(numbers: readonly number[], most = 40): string {
  const rest = numbers.length - most;
  return `${numbers.slice(0, most).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
