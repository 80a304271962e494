import type { Handler } from '@quartermaster/plugin-kit';

export const run: Handler<{ number_1: number; number_2: number }, { result: number }> = (
  { number_1, number_2 },
  context,
) => {
  const result = number_1 * number_2;
  if (!Number.isFinite(result)) return context.reject('The product is too large: more than 1.7976931348623157e308.');
  return { result };
};
