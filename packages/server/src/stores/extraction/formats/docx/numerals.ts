import { toLetters, toRoman } from '../numerals.ts';

type Numeral = (value: number) => string;

/** Writes the number of an item as ECMA-376 17.18.59 says for the format. Formats that it does not define are decimal. */
export function numeralOf(format: string, value: number): string {
  const write = Object.hasOwn(numerals, format) ? numerals[format] : undefined;
  return write?.(value) || (format === 'none' ? '' : String(value));
}

/** A letter; after the last one, letters are repeated as after z: aa, bb. */
const letters = (alphabet: string): Numeral => {
  const all = [...alphabet];
  return (value) => repeated(all, value);
};
const mostRepeated = 30;
function repeated(all: readonly string[], value: number): string {
  const times = Math.ceil(value / all.length);
  return value < 1 || times > mostRepeated ? '' : (all[(value - 1) % all.length] ?? '').repeat(times);
}
/** A sign that exists for the first numbers only. */
const signs = (first: number, count: number): Numeral => {
  return (value) => (value < 1 || value > count ? '' : String.fromCodePoint(first + value - 1));
};
const digits = (all: string): Numeral => {
  return (value) => String(value).replace(/\d/g, (digit) => [...all][Number(digit)] ?? digit);
};
const upper = (write: Numeral): Numeral => {
  return (value) => write(value).toUpperCase();
};

/**
 * Counts in tens, hundreds and thousands, as Chinese, Japanese and Korean do.
 * @param all the digits from 1, then 10, 100, 1000 and 10,000
 * @param zero between places, for example 一百零一
 * @param isFormal whether 10 has its digit: 壹拾
 */
function counting(all: string, zero = '', isFormal = false): Numeral {
  const units = [...all];
  const places = ['', ...units.slice(9)];
  return (value) => {
    if (value < 1 || value > 99_999) return '';
    let text = '';
    let isSkipped = false;
    for (let place = 4; place >= 0; place -= 1) {
      const at = Math.floor(value / 10 ** place) % 10;
      if (at === 0) isSkipped ||= text !== '';
      else {
        const hasDigit = at > 1 || place === 0 || isFormal || (zero === '' ? place === 4 : place > 1 || text !== '');
        text += `${isSkipped ? zero : ''}${hasDigit ? units[at - 1] : ''}${places[place] ?? ''}`;
        isSkipped = false;
      }
    }
    return text;
  };
}

/** Tens and ones as words. @param all the words of 1 to 9 */
function words(all: string, { ten, tens, joint = ' ', one = '', five = '' }: TensOfWords): Numeral {
  const ones = all.split(' ');
  return (value) => {
    if (value < 1 || value > 99) return '';
    const [high, low] = [Math.floor(value / 10), value % 10];
    const unit = (low === 1 && high > 0 && one) || (low === 5 && high > 0 && five) || ones[low - 1] || '';
    const start = high === 0 ? '' : high === 1 ? ten : tens(ones[high - 1] ?? '', high);
    return start + (start !== '' && unit !== '' ? joint : '') + unit;
  };
}
interface TensOfWords {
  readonly ten: string;
  readonly tens: (digit: string, high: number) => string;
  readonly joint?: string;
  /** The words for 1 and 5 behind a ten, if they differ. */
  readonly one?: string;
  readonly five?: string;
}

const english =
  'One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve Thirteen Fourteen Fifteen Sixteen Seventeen Eighteen Nineteen'.split(
    ' ',
  );
const englishTens = 'Twenty Thirty Forty Fifty Sixty Seventy Eighty Ninety'.split(' ');
const cardinal: Numeral = (value) => {
  if (value < 20) return english[value - 1] ?? '';
  if (value > 99) return '';
  const ones = english[(value % 10) - 1]?.toLowerCase();
  return `${englishTens[Math.floor(value / 10) - 2]}${ones === undefined ? '' : `-${ones}`}`;
};
const irregular: Readonly<Record<string, string>> = {
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
};
const ordinalText: Numeral = (value) => {
  const text = cardinal(value);
  if (text === '') return '';
  const from = text.lastIndexOf('-') + 1;
  const last = text.slice(from).toLowerCase();
  const ordinal = irregular[last] ?? `${last.replace(/y$/, 'ie')}th`;
  return from === 0 ? ordinal.charAt(0).toUpperCase() + ordinal.slice(1) : text.slice(0, from) + ordinal;
};
const ordinal: Numeral = (value) => {
  const ending = value % 100 > 10 && value % 100 < 14 ? undefined : ['st', 'nd', 'rd'][(value % 10) - 1];
  return `${value}${ending ?? 'th'}`;
};

const hebrewLetters = 'אבגדהוזחטיכלמנסעפצקרשת';
const hebrew: Numeral = (value) => {
  if (value < 1 || value > 999) return '';
  let [rest, text] = [value, ''];
  for (; rest >= 400; rest -= 400) text += 'ת';
  if (rest >= 100) text += hebrewLetters.charAt(17 + Math.floor(rest / 100));
  rest %= 100;
  // 15 and 16 would spell a name of God.
  if (rest === 15 || rest === 16) return text + (rest === 15 ? 'טו' : 'טז');
  if (rest >= 10) text += hebrewLetters.charAt(8 + Math.floor(rest / 10));
  return text + (rest % 10 === 0 ? '' : hebrewLetters.charAt((rest % 10) - 1));
};

const stems = '甲乙丙丁戊己庚辛壬癸';
const branches = '子丑寅卯辰巳午未申酉戌亥';
const cycle: Numeral = (value) =>
  value < 1 || value > 60 ? '' : stems.charAt((value - 1) % 10) + branches.charAt((value - 1) % 12);

const katakana = 'アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン';
const iroha = 'イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン';
const halfKatakana = 'ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜｦﾝ';
const halfIroha = 'ｲﾛﾊﾆﾎﾍﾄﾁﾘﾇﾙｦﾜｶﾖﾀﾚｿﾂﾈﾅﾗﾑｳヰﾉｵｸﾔﾏｹﾌｺｴﾃｱｻｷﾕﾒﾐｼヱﾋﾓｾｽﾝ';
const russian = 'абвгдежзиклмнопрстуфхцчшщыэюя';
const hanDigits = '〇一二三四五六七八九';
const chinese = '一二三四五六七八九十百千万';
const fullWidth = digits('０１２３４５６７８９');

const numerals: Readonly<Record<string, Numeral>> = {
  none: () => '',
  lowerLetter: toLetters,
  upperLetter: upper(toLetters),
  lowerRoman: toRoman,
  upperRoman: upper(toRoman),
  decimalZero: (value) => String(value).padStart(2, '0'),
  ordinal,
  cardinalText: cardinal,
  ordinalText,
  hex: (value) => value.toString(16).toUpperCase(),
  chicago: letters('*†‡§'),
  numberInDash: (value) => `- ${value} -`,
  decimalFullWidth: fullWidth,
  decimalFullWidth2: fullWidth,
  decimalEnclosedCircle: signs(0x2460, 20),
  decimalEnclosedCircleChinese: signs(0x2460, 20),
  decimalEnclosedParen: signs(0x2474, 20),
  decimalEnclosedFullstop: signs(0x2488, 20),
  ideographEnclosedCircle: signs(0x3280, 10),
  ideographTraditional: (value) => (value > 10 ? '' : stems.charAt(value - 1)),
  ideographZodiac: (value) => (value > 12 ? '' : branches.charAt(value - 1)),
  ideographZodiacTraditional: cycle,
  ideographDigital: digits(hanDigits),
  japaneseDigitalTenThousand: digits(hanDigits),
  taiwaneseDigital: digits('○一二三四五六七八九'),
  koreanDigital2: digits('零一二三四五六七八九'),
  koreanDigital: digits('영일이삼사오육칠팔구'),
  chineseCounting: (value) => (value < 100 ? counting(chinese)(value) : digits('○一二三四五六七八九')(value)),
  taiwaneseCounting: (value) => (value < 100 ? counting(chinese)(value) : digits('○一二三四五六七八九')(value)),
  chineseCountingThousand: counting(chinese, '零'),
  taiwaneseCountingThousand: counting('一二三四五六七八九十百千萬', '零'),
  chineseLegalSimplified: counting('壹贰叁肆伍陆柒捌玖拾佰仟萬', '零', true),
  ideographLegalTraditional: counting('壹貳參肆伍陸柒捌玖拾佰仟萬', '零', true),
  japaneseCounting: counting(chinese),
  japaneseLegal: counting('壱弐参四伍六七八九拾百阡萬', '', true),
  koreanCounting: counting('일이삼사오육칠팔구십백천만'),
  koreanLegal: words('하나 둘 셋 넷 다섯 여섯 일곱 여덟 아홉', {
    ten: '열',
    tens: (_, high) => '스물 서른 마흔 쉰 예순 일흔 여든 아흔'.split(' ')[high - 2] ?? '',
    joint: '',
  }),
  vietnameseCounting: words('một hai ba bốn năm sáu bảy tám chín', {
    ten: 'mười',
    tens: (digit) => `${digit} mươi`,
    five: 'lăm',
  }),
  thaiCounting: words('หนึ่ง สอง สาม สี่ ห้า หก เจ็ด แปด เก้า', {
    ten: 'สิบ',
    tens: (digit, high) => `${high === 2 ? 'ยี่' : digit}สิบ`,
    joint: '',
    one: 'เอ็ด',
  }),
  thaiLetters: letters('กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ'),
  thaiNumbers: digits('๐๑๒๓๔๕๖๗๘๙'),
  hindiNumbers: digits('०१२३४५६७८९'),
  // The standard gives the letters of each other to these two.
  hindiVowels: letters('कखगघङचछजझञटठडढणतथदधनपफबभमयरलवशषसह'),
  hindiConsonants: letters('अआइईउऊऋऌऍऎएऐऑऒओऔ'),
  aiueo: letters(halfKatakana),
  aiueoFullWidth: letters(katakana),
  iroha: letters(halfIroha),
  irohaFullWidth: letters(iroha),
  ganada: letters('가나다라마바사아자차카타파하'),
  chosung: letters('ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ'),
  russianLower: letters(russian),
  russianUpper: letters(russian.toUpperCase()),
  hebrew1: hebrew,
  hebrew2: letters(hebrewLetters),
  arabicAlpha: letters('أبتثجحخدذرزسشصضطظعغفقكلمنهوي'),
  arabicAbjad: letters('أبجدهوزحطيكلمنسعفصقرشتثخذضظغ'),
};
