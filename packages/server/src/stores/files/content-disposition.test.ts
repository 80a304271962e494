import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachment } from './content-disposition.ts';

test('a download names the file in both forms, and no name can escape its quotes', () => {
  assert.equal(attachment('a.txt'), `attachment; filename="a.txt"; filename*=UTF-8''a.txt`);
  assert.equal(
    attachment('Grüße "1" 50% (x)*\'.txt'),
    `attachment; filename="Gr__e _1_ 50_ (x)*'.txt"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%221%22%2050%25%20%28x%29%2A%27.txt`,
  );
  for (const hostile of ['a"\r\nX: y.txt', 'a\\".txt', 'a\0.txt', '\ud800.txt', '\u202etxt.pdf']) {
    assert.match(attachment(hostile), /^attachment; filename="[^"\\\r\n\0%]*"; filename\*=UTF-8''[A-Za-z0-9%._!~-]+$/);
  }
});
