/** People cannot read smaller text, in points. */
export const leastPoints = 2;

/** Whether a colour, such as `FEFEFE` or `#ffffff`, looks like the paper. */
export const isWhite = (color: string) => /^#?(?:f[5-9a-f]){3}$/i.test(color);
