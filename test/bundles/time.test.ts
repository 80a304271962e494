import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { run as convert } from '../../bundles/time/convert-time.ts';
import { run as getTime } from '../../bundles/time/get-time-by-timezone.ts';
import { run as list } from '../../bundles/time/list-timezones.ts';
import { context, Rejected } from './handler-context.ts';

async function allZones(): Promise<string[]> {
  return (await list({}, context)).timezones;
}

test('returns the local time at an instant', async () => {
  const cases = [
    ['Europe/Berlin', '2024-07-01T10:00:00Z', '2024-07-01T12:00:00+02:00', 'Monday'],
    ['Europe/Berlin', '2024-01-01T10:00:00Z', '2024-01-01T11:00:00+01:00', 'Monday'],
    ['Asia/Kolkata', '2024-02-28T20:00:00Z', '2024-02-29T01:30:00+05:30', 'Thursday'],
    ['America/St_Johns', '2024-07-01T00:00:00Z', '2024-06-30T21:30:00-02:30', 'Sunday'],
    ['UTC', '2024-12-31T23:59:59Z', '2024-12-31T23:59:59+00:00', 'Tuesday'],
    ['Pacific/Kiritimati', '2024-12-31T10:00:00Z', '2025-01-01T00:00:00+14:00', 'Wednesday'],
    ['utc', '2024-12-31T23:59:59+02:00', '2024-12-31T21:59:59+00:00', 'Tuesday'],
    ['+05:30', '2024-01-01T00:00:00Z', '2024-01-01T05:30:00+05:30', 'Monday'],
    ['Africa/Monrovia', '1950-01-01T00:00:00Z', '1949-12-31T23:15:30-00:44:30', 'Saturday'],
  ] as const;
  for (const [timezone, at, date_time, day_of_week] of cases) {
    const answer = await getTime({ timezone, at }, context);
    assert.deepEqual(
      { timezone: answer.timezone, date_time: answer.date_time, day_of_week: answer.day_of_week },
      { timezone, date_time, day_of_week },
    );
    assert.equal(`${answer.date}T${answer.time}${answer.utc_offset}`, date_time);
    assert.equal(answer.timestamp, Date.parse(at));
  }
});

test('without an instant, the current time is returned', async () => {
  const before = Date.now();
  const { timestamp, utc_date_time } = await getTime({ timezone: 'Asia/Tokyo' }, context);
  assert.ok(timestamp >= before && timestamp <= Date.now());
  assert.equal(Date.parse(utc_date_time), Math.floor(timestamp / 1000) * 1000);
});

test('offset and local time agree with the instant in every zone', async () => {
  const zones = await allZones();
  const moments = fc
    .integer({ min: Date.UTC(1990, 0), max: Date.UTC(2060, 0) })
    .map((ms) => new Date(ms).toISOString());
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...zones), moments, async (timezone, at) => {
      const { date_time, utc_offset_minutes, timestamp } = await getTime({ timezone, at }, context);
      assert.equal(Date.parse(date_time), Math.floor(timestamp / 1000) * 1000);
      assert.equal(Date.parse(`${date_time.slice(0, 19)}Z`) - Date.parse(date_time), utc_offset_minutes * 60_000);
    }),
    { numRuns: 300 },
  );
});

test('an unknown zone is bad input, and the error names it', async () => {
  assert.throws(() => getTime({ timezone: 'Europe/Nowhere' }, context), /"Europe\/Nowhere" is not an IANA time zone/);
  for (const [from_timezone, to_timezone] of [
    ['Nowhere', 'UTC'],
    ['UTC', 'Nowhere'],
  ] as const) {
    const input = { date_time: '2024-01-01T00:00', from_timezone, to_timezone };
    assert.throws(() => convert(input, context), Rejected);
  }
});

test('converts between zones and reports times that occur twice or never', async () => {
  const cases = [
    ['2024-06-01T12:00', 'Europe/Paris', 'Asia/Kathmandu', '2024-06-01T15:45:00+05:45', 'exact'],
    ['2024-06-01T12:00:30', 'UTC', 'UTC', '2024-06-01T12:00:30+00:00', 'exact'],
    // The clock moved forward at 02:00, so the time moves by the missing hour.
    ['2024-03-10T02:30', 'America/New_York', 'America/New_York', '2024-03-10T03:30:00-04:00', 'skipped'],
    // The clock moved back at 02:00, so the first of the two times is used.
    ['2024-11-03T01:30', 'America/New_York', 'UTC', '2024-11-03T05:30:00+00:00', 'repeated'],
    ['2024-11-03T02:00', 'America/New_York', 'UTC', '2024-11-03T07:00:00+00:00', 'exact'],
    ['2024-10-27T02:30', 'Europe/Berlin', 'UTC', '2024-10-27T00:30:00+00:00', 'repeated'],
    // Daylight saving time of half an hour.
    ['2024-04-07T01:45', 'Australia/Lord_Howe', 'UTC', '2024-04-06T14:45:00+00:00', 'repeated'],
    // Samoa skipped a whole day.
    ['2011-12-30T12:00', 'Pacific/Apia', 'Pacific/Apia', '2011-12-31T12:00:00+14:00', 'skipped'],
  ] as const;
  for (const [date_time, from_timezone, to_timezone, converted, resolution] of cases) {
    const answer = await convert({ date_time, from_timezone, to_timezone }, context);
    assert.deepEqual([answer.date_time, answer.resolution], [converted, resolution], date_time);
    assert.equal(Date.parse(answer.from_date_time), answer.timestamp);
    assert.equal(Date.parse(answer.utc_date_time), answer.timestamp);
  }
});

test('a time that occurs once converts to any other zone and back', async () => {
  const zones = fc.constantFrom(...(await allZones()));
  const moments = fc.integer({ min: Date.UTC(1990, 0) / 1000, max: Date.UTC(2060, 0) / 1000 });
  await fc.assert(
    fc.asyncProperty(zones, zones, moments, async (from_timezone, to_timezone, seconds) => {
      const date_time = new Date(seconds * 1000).toISOString().slice(0, 19);
      const there = await convert({ date_time, from_timezone, to_timezone }, context);
      const again = { date_time: there.date_time.slice(0, 19), from_timezone: to_timezone, to_timezone: from_timezone };
      const back = await convert(again, context);
      if (there.resolution !== 'exact' || back.resolution !== 'exact') return;
      assert.equal(back.date_time.slice(0, 19), date_time);
      assert.equal(back.timestamp, there.timestamp);
    }),
    { numRuns: 300 },
  );
});

test('a date that is not in the calendar is bad input', () => {
  for (const date_time of [
    '2024-02-30T12:00',
    '2023-02-29T12:00',
    '2024-13-01T00:00',
    '2024-01-01T24:30',
    '2024-01-01T12:60',
  ]) {
    const input = { date_time, from_timezone: 'UTC', to_timezone: 'UTC' };
    assert.throws(() => convert(input, context), /does not exist in the calendar/, date_time);
  }
});

test('the other plugins know every listed zone', async () => {
  const { timezones, count } = await list({}, context);
  assert.equal(count, timezones.length);
  assert.ok(count > 400 && timezones.includes('UTC') && timezones.includes('Europe/Berlin'));
  for (const timezone of timezones) await getTime({ timezone, at: '2024-01-01T00:00:00Z' }, context);
});

test('an area limits the list of zones; an unknown area is bad input, and the error lists the known areas', async () => {
  const { timezones } = await list({ area: 'Antarctica' }, context);
  assert.ok(timezones.length > 5 && timezones.every((name) => name.startsWith('Antarctica/')));
  assert.throws(() => list({ area: 'Atlantis' }, context), /There is no area "Atlantis"\. Areas: Africa, .*Pacific\./);
});
