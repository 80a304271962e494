import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparePin, pinNames } from '../../scripts/surface/pins.ts';
import { readSurface } from '../../scripts/surface/services.ts';

const surface = await readSurface();

for (const name of pinNames) {
  test(`the ${name} of the service are those of test/surface/${name}.json`, () => {
    assert.ok(Object.keys(surface[name]).length > 10);
    const difference = comparePin(name, surface[name]);
    if (difference !== undefined) assert.fail(difference);
  });
}
