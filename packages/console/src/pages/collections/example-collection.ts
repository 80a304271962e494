import { filesApi } from '../../api/addresses.ts';
import type { LanguageCode } from '../../language/language.tsx';

/** The collection of a small library, which a new user can search at once. */
const examples = {
  en: {
    name: 'Example: a library',
    description: 'Ask: How long may I keep a book?',
    records: [
      [
        'Opening hours',
        'The library is open from nine to six on weekdays, and from ten to two on Saturdays. On Sundays and public holidays it stays closed.',
      ],
      [
        'Lending',
        '# Lending\n\nBooks may be kept for four weeks, films and games for one week. Ask at the desk or in your account to keep them longer, unless somebody else waits for them.\n\n# Late returns\n\nEach day costs 20 cents for each item, at most five euros.',
      ],
      [
        'Library card',
        'A card is free for children and costs twelve euros a year for adults. Bring an identity card with your address. A lost card is replaced for three euros.',
      ],
      [
        'Reading rooms',
        'The quiet room on the second floor has forty desks. Group rooms are booked on the web for at most three hours. Food stays outside; water in a closed bottle is fine.',
      ],
      [
        'Printing and copying',
        'Printers stand beside the stairs on each floor. A page costs ten cents, a page in colour thirty. Pay with your library card.',
      ],
    ],
  },
  zh: {
    name: '示例：图书馆',
    description: '试着提问：一本书可以借多久？',
    records: [
      ['开放时间', '图书馆周一至周五九点至十八点开放，周六十点至十四点开放。周日和节假日闭馆。'],
      [
        '借阅',
        '# 借阅\n\n图书可借四周，影片和游戏可借一周。如无人预约，可在服务台或账户中续借。\n\n# 逾期\n\n每件每天收费两角，最多五元。',
      ],
      ['借书证', '儿童免费办理借书证，成人每年十二元。请携带写有住址的身份证。补办借书证收费三元。'],
      ['阅览室', '二楼的安静阅览室有四十个座位。小组讨论室可在网上预订，最长三小时。请勿带食物入内，可带有盖的水。'],
      ['打印和复印', '每层楼梯旁都有打印机。黑白每页一角，彩色每页三角。请用借书证付款。'],
    ],
  },
} as const;

/** Creates the collection with its documents. @returns its id */
export async function createExample(code: LanguageCode): Promise<string> {
  const { name, description, records } = examples[code];
  const body = { name, description, type: 'text' } as const;
  const { collection_id } = await filesApi.data('POST /v1/collections', { body });
  for (const [title, content] of records) {
    const record = { type: 'text', title, content } as const;
    await filesApi.json('POST /v1/collections/{collection_id}/records', { path: { collection_id }, body: record });
  }
  return collection_id;
}
