import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from '../../document.ts';
import { readDocument } from '../read-document.ts';
import { docxOf, paragraph } from '../testing/documents.fixture.ts';
import { readDocx } from './read-docx.ts';

const run = (text: string, properties = '') =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const up = '<w:vertAlign w:val="superscript"/>';

async function textOf(body: string, parts: Readonly<Record<string, string>> = {}): Promise<string> {
  return layOut(await readDocx(docxOf(body, parts))).text;
}

test('text that a style hides is left out and counted, unless two styles or the run itself show it again', async () => {
  const style = (id: string, type: string, inner: string) =>
    `<w:style w:type="${type}" w:styleId="${id}"><w:name w:val="${id}"/>${inner}</w:style>`;
  const vanish = '<w:rPr><w:vanish/></w:rPr>';
  const styles = [
    style('C', 'character', vanish),
    style('C2', 'character', '<w:basedOn w:val="C"/>'),
    style('C3', 'character', '<w:basedOn w:val="C2"/><w:rPr><w:vanish w:val="false"/></w:rPr>'),
    style('P', 'paragraph', vanish),
    style('P2', 'paragraph', '<w:basedOn w:val="P"/>'),
  ].join('');
  const of = (id: string) => `<w:rStyle w:val="${id}"/>`;
  const body = [
    `<w:p>${run('seen')}${run(' direct', '<w:vanish/>')}${run(' char', of('C'))}${run(' based', of('C2'))}</w:p>`,
    `<w:p>${run('off', of('C3'))}${run(' own', `${of('C')}<w:vanish w:val="0"/>`)}</w:p>`,
    `<w:p><w:pPr><w:pStyle w:val="P"/></w:pPr>${run('para')}${run('both', of('C2'))}</w:p>`,
    `<w:p><w:pPr><w:pStyle w:val="P2"/></w:pPr>${run('para')}</w:p>`,
    `<w:tbl><w:tr><w:trPr><w:hidden/></w:trPr><w:tc><w:p>${run('row')}</w:p></w:tc></w:tr><w:tr><w:tc><w:p>${run('a')}</w:p></w:tc><w:tc><w:p>${run('b')}</w:p></w:tc></w:tr></w:tbl>`,
  ];
  const document = await readDocx(docxOf(body.join(''), { styles }));
  assert.equal(layOut(document).text, 'seen\n\noff own\n\nboth\n\na | b');
  assert.equal(document.facts.dropped?.hidden, ' direct char based'.length + 'para'.length * 2 + 'row'.length);
});

test('raised numbers are powers, and struck text is marked, in one run or several and by style', async () => {
  const styles = `<w:style w:type="character" w:styleId="Up"><w:rPr>${up}</w:rPr></w:style>
    <w:style w:type="character" w:styleId="Old"><w:rPr><w:strike/></w:rPr></w:style>`;
  const strike = '<w:strike/>';
  const body = [
    `${run('Dose 10')}${run('6', up)}${run(' units, 10')}${run('-', up)}${run('3', up)}${run(' g, 5 m')}${run('2', up)}`,
    `${run('10')}${run('9', '<w:rStyle w:val="Up"/>')}${run(', 10')}${run('4', '<w:position w:val="8"/>')}${run(', the 1')}${run('st', up)}`,
    `${run('Price ')}${run('1', strike)}${run('00', '<w:dstrike/>')}${run(' 80 ')}${run('old', '<w:rStyle w:val="Old"/>')}`,
  ];
  assert.equal(
    await textOf(body.map((each) => `<w:p>${each}</w:p>`).join(''), { styles }),
    'Dose 10^6 units, 10^-3 g, 5 m²\n\n10^9, 10^4, the 1st\n\nPrice ~~100~~ 80 ~~old~~',
  );
});

test('check boxes and lists of options in forms show their state', async () => {
  const field = (data: string) =>
    `<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData>${data}</w:ffData></w:fldChar></w:r><w:r><w:instrText> F </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>${run(' x')}</w:p>`;
  const box = (inner: string) => field(`<w:checkBox>${inner}</w:checkBox>`);
  const list = (inner: string) =>
    field(`<w:ddList>${inner}<w:listEntry w:val="Red"/><w:listEntry w:val="Blue"/></w:ddList>`);
  const body = [
    box('<w:default w:val="0"/><w:checked/>'),
    box('<w:default w:val="1"/><w:checked w:val="0"/>'),
    box('<w:default w:val="1"/>'),
    list('<w:result w:val="1"/>'),
    list('<w:default w:val="1"/>'),
    list(''),
  ];
  assert.equal(await textOf(body.join('')), '[x] x\n\n[ ] x\n\n[x] x\n\nBlue x\n\nBlue x\n\nRed x');
});

test('of alternatives, one that needs an unknown namespace is not taken', async () => {
  const choice = (prefix: string, text: string) => `<mc:Choice Requires="${prefix}">${run(text)}</mc:Choice>`;
  const of = (inner: string) =>
    `<w:p xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:z="https://example.org/z"><mc:AlternateContent>${inner}<mc:Fallback>${run('old')}</mc:Fallback></mc:AlternateContent></w:p>`;
  const body = [
    of(choice('wps', 'new')),
    of(choice('z', 'unknown')),
    of(choice('wps z', 'unknown')),
    of(choice('z', 'unknown') + choice('wps', 'second')),
    of(choice('nowhere', 'undeclared')),
  ];
  assert.equal(await textOf(body.join('')), 'new\n\nold\n\nold\n\nsecond\n\nold');
});

/** The numbers of the items 1 to 3, 10, 11, 15 and 21, from the examples of ECMA-376 17.18.59 and the rules that it names. */
const formats: Readonly<Record<string, string>> = {
  decimal: '1 2 3 10 11 15 21',
  decimalZero: '01 02 03 10 11 15 21',
  decimalFullWidth: '１ ２ ３ １０ １１ １５ ２１',
  decimalEnclosedCircle: '① ② ③ ⑩ ⑪ ⑮ 21',
  decimalEnclosedParen: '⑴ ⑵ ⑶ ⑽ ⑾ ⒂ 21',
  decimalEnclosedFullstop: '⒈ ⒉ ⒊ ⒑ ⒒ ⒖ 21',
  upperRoman: 'I II III X XI XV XXI',
  lowerLetter: 'a b c j k o u',
  ordinal: '1st 2nd 3rd 10th 11th 15th 21st',
  cardinalText: 'One Two Three Ten Eleven Fifteen Twenty-one',
  ordinalText: 'First Second Third Tenth Eleventh Fifteenth Twenty-first',
  hex: '1 2 3 A B F 15',
  chicago: '* † ‡ ††† ‡‡‡ ‡‡‡‡ ******',
  numberInDash: '- 1 - - 2 - - 3 - - 10 - - 11 - - 15 - - 21 -',
  ideographDigital: '一 二 三 一〇 一一 一五 二一',
  chineseCounting: '一 二 三 十 十一 十五 二十一',
  chineseCountingThousand: '一 二 三 十 十一 十五 二十一',
  chineseLegalSimplified: '壹 贰 叁 壹拾 壹拾壹 壹拾伍 贰拾壹',
  ideographLegalTraditional: '壹 貳 參 壹拾 壹拾壹 壹拾伍 貳拾壹',
  japaneseLegal: '壱 弐 参 壱拾 壱拾壱 壱拾伍 弐拾壱',
  ideographTraditional: '甲 乙 丙 癸 11 15 21',
  ideographZodiac: '子 丑 寅 酉 戌 15 21',
  ideographZodiacTraditional: '甲子 乙丑 丙寅 癸酉 甲戌 戊寅 甲申',
  ideographEnclosedCircle: '㊀ ㊁ ㊂ ㊉ 11 15 21',
  aiueo: 'ｱ ｲ ｳ ｺ ｻ ｿ ﾅ',
  aiueoFullWidth: 'ア イ ウ コ サ ソ ナ',
  irohaFullWidth: 'イ ロ ハ ヌ ル ヨ ナ',
  ganada: '가 나 다 차 카 가가 사사',
  chosung: 'ㄱ ㄴ ㄷ ㅊ ㅋ ㄱㄱ ㅅㅅ',
  koreanDigital: '일 이 삼 일영 일일 일오 이일',
  koreanCounting: '일 이 삼 십 십일 십오 이십일',
  koreanLegal: '하나 둘 셋 열 열하나 열다섯 스물하나',
  hebrew1: 'א ב ג י יא טו כא',
  hebrew2: 'א ב ג י כ ס ש',
  arabicAlpha: 'أ ب ت ر ز ض ق',
  arabicAbjad: 'أ ب ج ي ك س ش',
  russianLower: 'а б в к л п х',
  russianUpper: 'А Б В К Л П Х',
  thaiLetters: 'ก ข ค ญ ฎ ฒ ธ',
  thaiNumbers: '๑ ๒ ๓ ๑๐ ๑๑ ๑๕ ๒๑',
  thaiCounting: 'หนึ่ง สอง สาม สิบ สิบเอ็ด สิบห้า ยี่สิบเอ็ด',
  hindiNumbers: '१ २ ३ १० ११ १५ २१',
  hindiVowels: 'क ख ग ञ ट ण प',
  vietnameseCounting: 'một hai ba mười mười một mười lăm hai mươi một',
};

test('items have the numbers of their format', async () => {
  const numbers = [1, 2, 3, 10, 11, 15, 21];
  for (const [format, expected] of Object.entries(formats)) {
    assert.deepEqual(await labelsOf(`<w:numFmt w:val="${format}"/>`, numbers), expected, format);
  }
  assert.equal(
    await labelsOf('<w:numFmt w:val="chineseCountingThousand"/>', [100, 101, 110, 1010]),
    '一百 一百零一 一百一十 一千零一十',
  );
  assert.equal(await labelsOf('<w:numFmt w:val="japaneseCounting"/>', [100, 1000, 10_010]), '百 千 一万十');
  assert.equal(await labelsOf('<w:numFmt w:val="custom" w:format="001, 002, 003, ..."/>', [7]), '007');
  const both = `<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"><mc:Choice Requires="w14"><w:numFmt w:val="custom" w:format="0001, 0002, ..."/></mc:Choice><mc:Fallback><w:numFmt w:val="decimal"/></mc:Fallback></mc:AlternateContent>`;
  assert.equal(await labelsOf(both, [7]), '0007');
});

async function labelsOf(format: string, numbers: readonly number[]): Promise<string> {
  const lists = numbers.map(
    (start, at) =>
      `<w:abstractNum w:abstractNumId="${at}"><w:lvl w:ilvl="0"><w:start w:val="${start}"/>${format}<w:lvlText w:val="%1"/></w:lvl></w:abstractNum>`,
  );
  const uses = numbers.map((_, at) => `<w:num w:numId="${at + 1}"><w:abstractNumId w:val="${at}"/></w:num>`);
  const items = numbers.map((_, at) =>
    paragraph('!', `<w:numPr><w:ilvl w:val="0"/><w:numId w:val="${at + 1}"/></w:numPr>`),
  );
  const text = await textOf(items.join(''), { numbering: lists.join('') + uses.join('') });
  return text.replaceAll(' !', '').replaceAll('\n', ' ');
}

test('white text on paper and text smaller than two points are left out and counted', async () => {
  const white = '<w:color w:val="FFFFFF"/>';
  const tiny = '<w:sz w:val="2"/>';
  const style = (inner: string) =>
    `<w:style w:type="character" w:styleId="W"><w:rPr>${white}</w:rPr></w:style><w:style w:type="table" w:styleId="T">${inner}</w:style>`;
  const styles = style(
    '<w:tblStylePr w:type="firstRow"><w:tcPr><w:shd w:val="clear" w:fill="1F3864"/></w:tcPr></w:tblStylePr>',
  );
  const table = (properties: string, cell: string) =>
    `<w:tbl><w:tblPr>${properties}</w:tblPr><w:tr><w:tc><w:tcPr>${cell}</w:tcPr><w:p>${run('in', white)}</w:p></w:tc><w:tc><w:p>${run('x')}</w:p></w:tc></w:tr></w:tbl>`;
  const dark = '<w:shd w:val="clear" w:fill="000000"/>';
  for (const [body, expected] of [
    [`<w:p>${run('a')}${run(' b', white)}${run(' c', tiny)}${run(' ', tiny)}${run('d')}</w:p>`, 'a d'],
    [`<w:p>${run('a')}${run('b', '<w:rStyle w:val="W"/>')}${run('c', '<w:color w:val="FEFEFE"/>')}</w:p>`, 'a'],
    [`<w:p>${run('b', `${white}${dark}`)}${run('c', `${white}<w:highlight w:val="red"/>`)}</w:p>`, 'bc'],
    [`<w:p><w:pPr>${dark}</w:pPr>${run('b', white)}</w:p>`, 'b'],
    [table('', ''), 'x'],
    [table('', dark), 'in | x'],
    [table('<w:tblStyle w:val="T"/>', ''), 'in | x'],
    [`<w:p>${run('a', '<w:color w:val="EEEEEE"/>')}${run('b', '<w:sz w:val="8"/>')}</w:p>`, 'ab'],
    [`<w:p>${run('a', white)}<w:r><wp:anchor behindDoc="1"/></w:r></w:p>`, 'a'],
  ] as const)
    assert.equal((await textOf(body, { styles })).replace(/^ \| /, ''), expected, body);
  const { facts } = await readDocx(docxOf(`<w:p>${run('a')}${run('secret', white)}</w:p>`));
  assert.equal(facts.dropped?.hidden, 'secret'.length);
});

test('fonts of symbols show Greek letters, signs and boxes', async () => {
  const fonts = (name: string) => `<w:rFonts w:ascii="${name}" w:hAnsi="${name}"/>`;
  const body = [
    `${run('\uf061\uf062 abg', fonts('Symbol'))}${run(' abc', fonts('Arial'))}`,
    `${run('\uf0fe', fonts('Wingdings'))}${run('yes')}${run('\uf0a8', fonts('Wingdings'))}${run(' no')}`,
    `<w:r><w:sym w:font="Wingdings 2" w:char="F052"/></w:r><w:r><w:sym w:font="Symbol" w:char="F0B3"/></w:r>`,
    run('☒ done ☐open'),
  ];
  const bytes = docxOf(body.map((each) => `<w:p>${each}</w:p>`).join(''));
  const { blocks } = await readDocument({ format: 'docx', bytes });
  assert.deepEqual(
    blocks.map(({ text }) => text),
    ['αβ αβγ abc', '[x] yes [ ] no', '[x] ≥', '[x] done [ ] open'],
  );
});
