import type { Handler } from '@quartermaster/plugin-kit';

export const run: Handler<{ area?: string }, { timezones: string[]; count: number }> = ({ area }, context) => {
  const all = [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC'])].sort();
  const timezones = area === undefined ? all : all.filter((name) => name.startsWith(`${area}/`));
  if (timezones.length === 0) {
    const areas = [...new Set(all.filter((name) => name.includes('/')).map((name) => name.split('/')[0]))];
    return context.reject(`There is no area "${area}". Areas: ${areas.join(', ')}.`);
  }
  return { timezones, count: timezones.length };
};
