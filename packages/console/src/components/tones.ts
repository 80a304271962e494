/** Colours of badges. White text on each has a contrast of at least 4.5. */
export const tones = { good: 'teal.9', caution: '#a83a0a', bad: 'red.9', going: 'cyan.9', over: 'gray.7' } as const;

export const effectsColors = { read: tones.good, write: tones.caution, destructive: tones.bad } as const;
