import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from '../document.ts';
import { chunkSizeOf, defaultChunkSize } from './chunk-size.ts';
import { splitByStructure } from './structure-splitter.ts';

/** Article 1 of the Universal Declaration of Human Rights, as published by the United Nations. */
const article = {
  en: 'All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should act towards one another in a spirit of brotherhood.',
  de: 'Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.',
  fr: 'Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.',
  es: 'Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y conciencia, deben comportarse fraternalmente los unos con los otros.',
  ru: 'Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.',
  ar: 'يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميرًا وعليهم أن يعامل بعضهم بعضًا بروح الإخاء.',
  el: 'Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.',
  ko: '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.',
  zh: '人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。',
  th: 'มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ',
};

function paragraphsInChunk(paragraph: string, size?: number): number {
  const repeated = Array.from({ length: 60 }, () => ({ kind: 'paragraph', text: paragraph }) as const);
  const { text, blocks } = layOut({ blocks: repeated, facts: {}, warnings: [] });
  const [first] = splitByStructure(text, blocks, size ?? chunkSizeOf(text));
  return Math.round(((first?.end ?? 0) - (first?.start ?? 0)) / (paragraph.length + 2));
}

test('the amount of text in a chunk differs less between scripts than with one size', () => {
  const texts = Object.entries(article);
  const latin = texts.slice(0, 4).map(([, text]) => paragraphsInChunk(text));
  for (const [language, text] of texts.slice(4)) {
    const held = paragraphsInChunk(text);
    assert.ok(held > paragraphsInChunk(text, defaultChunkSize), language);
    assert.ok(held <= Math.max(...latin), `${language}: ${held}, Latin ${latin}`);
  }
});

test('the size is 400 tokens for Latin text, at most 640, and in between for text in two scripts', () => {
  assert.equal(chunkSizeOf(article.en), defaultChunkSize);
  assert.equal(chunkSizeOf(`${article.fr} 1234 — € \u{1f600}`), defaultChunkSize);
  assert.equal(chunkSizeOf('123 + 456 = 579'), defaultChunkSize);
  assert.equal(chunkSizeOf(''), defaultChunkSize);
  assert.equal(chunkSizeOf(article.el), 640);
  const mixed = chunkSizeOf(article.en + article.ru);
  assert.ok(mixed > defaultChunkSize && mixed < chunkSizeOf(article.ru), String(mixed));
  // The scripts of a long text are counted in samples of all its parts.
  const long = chunkSizeOf(`${article.en.repeat(500)}${article.ru.repeat(500)}`);
  assert.ok(Math.abs(long - mixed) < 10, `${long}, ${mixed}`);
});
