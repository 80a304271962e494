/** What a badge says by its colour; white on each has a contrast of 4.5 and more. */
export const tones = { good: 'teal.9', caution: '#a83a0a', bad: 'red.9', going: 'cyan.9', over: 'gray.7' } as const;
