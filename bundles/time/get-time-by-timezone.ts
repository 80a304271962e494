import type { Handler } from '@quartermaster/plugin-kit';

interface Output {
  readonly timezone: string;
  readonly timezone_name: string;
  readonly date_time: string;
  readonly date: string;
  readonly time: string;
  readonly day_of_week: string;
  readonly utc_offset: string;
  readonly utc_offset_minutes: number;
  readonly utc_date_time: string;
  readonly timestamp: number;
}

export const run: Handler<{ timezone: string; at?: string }, Output> = ({ timezone, at }, context) => {
  const instant = at === undefined ? new Date() : new Date(at);
  if (Number.isNaN(instant.getTime())) return context.reject(`at ("${at}") is not a date and time with an offset.`);
  const format = formatOf(timezone);
  if (format === undefined) return context.reject(`"${timezone}" is not an IANA time zone such as Europe/Berlin.`);
  const part = new Map(format.formatToParts(instant).map(({ type, value }) => [type, value]));
  // "GMT" alone means no offset.
  const offset = part.get('timeZoneName')?.slice('GMT'.length) || '+00:00';
  const date = `${part.get('year')?.padStart(4, '0')}-${part.get('month')}-${part.get('day')}`;
  const time = `${part.get('hour')}:${part.get('minute')}:${part.get('second')}`;
  return {
    timezone,
    timezone_name: longName(timezone, instant),
    date_time: `${date}T${time}${offset}`,
    date,
    time,
    day_of_week: part.get('weekday') ?? '',
    utc_offset: offset,
    utc_offset_minutes: minutesOf(offset),
    utc_date_time: `${instant.toISOString().slice(0, 19)}Z`,
    timestamp: instant.getTime(),
  };
};

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      weekday: 'long',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'longOffset',
    });
  } catch {
    return undefined;
  }
}

function longName(timeZone: string, instant: Date): string {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'long' }).formatToParts(instant);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? timeZone;
}

function minutesOf(offset: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = offset.slice(1).split(':').map(Number);
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes + seconds / 60);
}
