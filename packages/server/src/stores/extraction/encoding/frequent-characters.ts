/**
 * Statistics that distinguish languages with many characters: the most used characters, and the larger set that is
 * taught first and therefore comes first in the national standard.
 */
export interface CharacterStatistics {
  /** The maximum number of used characters, in descending order of frequency. */
  readonly frequent: string;
  /** The share of a text that the frequent characters form. */
  readonly frequentShare: number;
  /** The common set, given by the bytes of its rows in an encoding. */
  readonly common: { readonly encoding: string; readonly rows: readonly [number, number] };
  /** Whether a character belongs to the script at all. */
  readonly script: RegExp;
}

const rows = { gb2312: [0xb0, 0xd7], big5: [0xa4, 0xc6], jis: [0xb0, 0xcf], ksx: [0xb0, 0xc8] } as const;

export const characterStatistics = {
  zh: {
    frequent:
      '的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运',
    frequentShare: 0.6,
    common: { encoding: 'gb18030', rows: rows.gb2312 },
    script: /[\p{Script=Han}。，、；：？！「」《》（）“”…—·]/u,
  },
  zhHant: {
    frequent:
      '的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運',
    frequentShare: 0.6,
    common: { encoding: 'big5', rows: rows.big5 },
    script: /[\p{Script=Han}。，、；：？！「」『』《》（）“”…—·]/u,
  },
  ja: {
    frequent:
      'のにはをたがでてとしれさいるもなあかこうらりまくつよすきだけどせそわえちじんめみおずやびばっふほひむろゃべゅぶげへごねょぞゆぼぜぐざぬづぎぱぷぽ、。ーンスルトイラリアクドシレタグロカテサコマフプナムメミュバチニキュッ日本人一大年中国語学生者事的出時分行会上自',
    frequentShare: 0.75,
    common: { encoding: 'euc-jp', rows: rows.jis },
    script: /[\p{Script=Han}\u3040-\u30ff。、「」『』（）！？・]/u,
  },
  ko: {
    frequent:
      '이다는의에가을를하고은한로기지사서도대인자어시리나아해정스과라전일부수그으있것원주제보상만여들장위면연조적공선구게성동신문분비경유소중세국생화간개미계야당민진관방모학마음안용물단발트오치통재외명할본행건니내양현며된각체결력말때',
    frequentShare: 0.8,
    common: { encoding: 'euc-kr', rows: rows.ksx },
    script: /[\uac00-\ud7a3\p{Script=Han}]/u,
  },
} as const satisfies Record<string, CharacterStatistics>;

/** Returns the characters of these rows. */
export function commonCharacters({ encoding, rows: [first, last] }: CharacterStatistics['common']): Set<string> {
  const bytes: number[] = [];
  for (let row = first; row <= last; row += 1) {
    for (let cell = 0xa1; cell <= 0xfe; cell += 1) bytes.push(row, cell);
    // Big5 has cells in two ranges.
    for (let cell = 0x40; encoding === 'big5' && cell <= 0x7e; cell += 1) bytes.push(row, cell);
  }
  return new Set(new TextDecoder(encoding).decode(Uint8Array.from(bytes)));
}
