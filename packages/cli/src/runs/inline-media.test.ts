import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutTexts, findInlineMedia, isMediaExtension } from './inline-media.ts';

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100, 0xfb)]);
const base64 = png.toString('base64');

test('content of the format of the extension is found in every form of base64 and at every depth', () => {
  const forms = {
    plain: base64,
    'a data URL': `data:image/png;base64,${base64}`,
    'no padding': base64.replace(/=+$/, ''),
    'URL-safe': png.toString('base64url'),
    'line breaks': base64.replace(/(.{76})/g, '$1\r\n'),
  };
  for (const [form, text] of Object.entries(forms)) {
    assert.deepEqual(findInlineMedia({ a: [{ text: 'none' }, { image: text }] }, '.png'), png, form);
  }
});

test('text, base64 of another format and a damaged text are not content', () => {
  const pdf = Buffer.from('%PDF-1.7 and more than sixteen characters').toString('base64');
  for (const text of [
    'an image',
    '',
    pdf,
    `${base64.slice(0, 80)}{}`,
    `data:image/png;base64,${pdf}`,
    '='.repeat(100),
  ]) {
    assert.equal(findInlineMedia({ image: text }, '.png'), undefined, text);
  }
  assert.equal(findInlineMedia({ document: pdf }, '.pdf')?.toString('latin1', 0, 5), '%PDF-');
  assert.equal(findInlineMedia(null, '.png'), undefined);
});

test('an SVG picture is found as text and as a data URL', () => {
  const picture = '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>';
  assert.equal(findInlineMedia([picture], '.svg')?.toString(), picture);
  const url = `data:image/svg+xml;base64,${Buffer.from(picture).toString('base64')}`;
  assert.equal(findInlineMedia([url], '.svg')?.toString(), picture);
  assert.equal(findInlineMedia(['<html><svg/></html>'], '.svg'), undefined);
});

test('an extension of another kind names no format', () => {
  for (const extension of ['', '.json', '.txt', '.csv', '.constructor'])
    assert.equal(isMediaExtension(extension), false);
  assert.ok(isMediaExtension('.png'));
});

test('long texts of a written output are cut where it is printed', () => {
  const long = 'a'.repeat(501);
  const cut = `${'a'.repeat(60)}… (501 characters)`;
  assert.deepEqual(cutTexts({ a: [long, 'a'.repeat(500)], b: 1, c: null }), {
    a: [cut, 'a'.repeat(500)],
    b: 1,
    c: null,
  });
  assert.equal(cutTexts(undefined), undefined);
});
