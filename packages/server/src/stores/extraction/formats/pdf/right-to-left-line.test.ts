import assert from 'node:assert/strict';
import { test } from 'node:test';
import bidiJs, { type Bidi } from 'bidi-js';
import fc from 'fast-check';
import { openBrowser } from '../../../../../../../test/support/browser.ts';
import { readInOrder } from './logical-order.ts';
import { readPdf } from './read-pdf.ts';

const hebrew = [
  'הסיסמה נשמרת עם PBKDF2 ועם מלח אקראי בכל חשבון',
  'כדי לעבור ל-TLS 1.2 יש לעדכן את השרת לגרסה 3.0.7 עד 2026-08-15',
  'המחיר הוא 1,299.00 ש"ח (כולל מע"מ 17%) לכל יחידה',
  'ראה סעיף C6 ואת המפתח U2F ברמה L1 וגם AAL1 לפי X.509 ו-AES-256-GCM',
  'פרק 12 עוסק ב-HTTP/2 ובכתובת https://example.com/path?x=1 בלבד',
  'גרסה v2.0 (beta 3) יצאה ב-2024 עם 45 שינויים',
  'טקסט ארוך מאוד שעובר לשורה הבאה בגלל רוחב העמוד, ובו המילה PBKDF2 מופיעה פעמיים: פעם אחת כאן ופעם שנייה PBKDF2 שם, יחד עם TLS 1.3 ועם SHA-256 בסוף השורה',
];
const arabic = [
  'تُخزَّن كلمة المرور باستخدام PBKDF2 مع ملح عشوائي لكل حساب',
  'يجب ترقية الخادم إلى TLS 1.2 والإصدار 3.0.7 قبل 2026-08-15',
  'السعر هو 1,299.00 ريال (شامل الضريبة 15%) لكل وحدة',
  'انظر القسم C6 والمفتاح U2F في المستوى L1 وكذلك AAL1 حسب X.509 و AES-256-GCM',
  'الفصل ١٢ يتناول HTTP/2 والعنوان https://example.com/path?x=1 فقط',
  'صدر الإصدار v2.0 (beta 3) عام 2024 مع ٤٥ تغييرا',
  'لا إله إلا الله والإسلام والآن في الملف README.md',
  'نسخهٔ ۲٫۱ کتابخانه در سال ۱۴۰۲ منتشر شد و API آن REST است',
];
const mixed = ['The Hebrew word שלום means peace, see 4.2 (in English).'];
const rows = [
  ['רמה', 'אלגוריתם', 'אורך'],
  ['L1', 'PBKDF2', '256 סיביות'],
  ['L2', 'AES-128', '128 סיביות'],
  ['L3', 'SHA-512', '512 סיביות'],
];

const paragraphs = (lines: readonly string[], more = '') => lines.map((line) => `<p ${more}>${line}</p>`).join('');
const style = 'body { font: 14px "DejaVu Sans"; width: 600px } p { margin: 28px 0 } td { padding: 6px 40px }';
const html = `<html lang="he" dir="rtl"><style>${style}</style>${paragraphs(hebrew)}${paragraphs(arabic, 'lang="ar"')}
${paragraphs(mixed, 'dir="ltr"')}<table>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</table></html>`;

test('lines that Chromium prints from right to left have the words of their source in its order', async (t) => {
  const { page } = await openBrowser(t);
  await page.setContent(html);
  const { blocks } = await readPdf(await page.pdf());
  const texts = blocks.filter(({ kind }) => kind !== 'table').map(({ text }) => text.normalize());
  assert.deepEqual(texts, [...hebrew, ...arabic.map((line) => line.normalize()), ...mixed]);
  const tables = blocks.filter(({ kind }) => kind === 'table').map(({ text }) => text);
  assert.deepEqual(tables, [rows.map((row) => row.join(' | ')).join('\n')]);
});

const bidi = (bidiJs as unknown as () => Bidi)();
/** Places the characters of a line as UAX #9 shows them, each 6 points wide. PDFium gives them in the order of reading. */
function placed(line: string, base: 'rtl' | 'ltr') {
  const order = bidi.getReorderedIndices(line, bidi.getEmbeddingLevels(line, base));
  return [...line].map((text, at) => {
    const left = 6 * order.indexOf(at);
    return { text, left, right: left + 6, size: 10 };
  });
}

const rightToLeft = fc.stringMatching(/^[א-ת]{2,6}$/);
const latin = fc.stringMatching(/^[A-Za-z]{1,5}[0-9]{0,3}$/);
const number = fc.stringMatching(/^[1-9][0-9]{0,3}(?:[.,][0-9]{2})?$/);

test('a line of words and numbers gets the order that UAX #9 has shown', () => {
  // A number before a Latin word looks like one after it, so that a Hebrew word is between them.
  const phrase = fc.oneof(
    rightToLeft,
    fc.tuple(rightToLeft, latin, rightToLeft),
    fc.tuple(rightToLeft, number, rightToLeft),
  );
  fc.assert(
    fc.property(fc.array(phrase, { minLength: 1, maxLength: 8 }), (phrases) => {
      const line = phrases.flat().join(' ');
      assert.equal(readInOrder(placed(line, 'rtl'), 'rtl'), line);
      assert.equal(readInOrder(placed(`See ${line}`, 'ltr'), 'ltr'), `See ${line}`);
    }),
  );
});

test('brackets form pairs, whether a file names their shape or their meaning', () => {
  const line = 'ראה (פרק 2) ואת [נספח]';
  const swap = (text: string) => ({ '(': ')', ')': '(', '[': ']', ']': '[' })[text] ?? text;
  const glyphs = placed(line, 'rtl');
  const shapes = glyphs.map((glyph) => ({ ...glyph, text: swap(glyph.text) }));
  assert.deepEqual([readInOrder(glyphs, 'rtl'), readInOrder(shapes, 'rtl')], [line, line]);
});

test('blanks without a width separate words and numbers', () => {
  const glyphs = placed('גרסה', 'rtl').map((glyph) => ({ ...glyph, left: glyph.left + 60, right: glyph.right + 60 }));
  const digits = placed('37', 'ltr').map((glyph) => ({ ...glyph, left: glyph.left + 46, right: glyph.right + 46 }));
  // PDFium gives the blank the place of the digit before it in the file.
  const blank = { text: ' ', left: 46, right: 46, size: 10 };
  const last = placed('עד', 'rtl').map((glyph) => ({ ...glyph, left: glyph.left + 30, right: glyph.right + 30 }));
  assert.equal(
    readInOrder([...glyphs, { ...blank, left: 60, right: 60 }, ...digits, blank, ...last], 'rtl'),
    'גרסה 37 עד',
  );
});
