/** The texts of this page. They load with it, because the first load of other pages is full. */
const en = {
  title: 'Jobs',
  about: 'Documents that are being processed, and those that need you, in all collections.',
  creating: 'In progress',
  error: 'Failed',
  partial: 'Partially ready',
  none: 'No documents here',
  noneAbout: 'Documents appear here while they are processed. Add them to a collection.',
  toCollections: 'Open the collections',
  collection: 'Collection',
  more: 'More in this collection',
  some: 'The page shows the {count} newest collections.',
} as const;

const zh: Readonly<Record<keyof typeof en, string>> = {
  title: '任务',
  about: '所有集合中正在处理的文档，以及需要您处理的文档。',
  creating: '进行中',
  error: '失败',
  partial: '部分就绪',
  none: '这里没有文档',
  noneAbout: '文档在处理期间显示在这里。请将文档添加到集合。',
  toCollections: '打开集合',
  collection: '集合',
  more: '此集合中的更多文档',
  some: '此页显示最新的 {count} 个集合。',
};

export const jobWords: Readonly<Record<'en' | 'zh', typeof zh>> = { en, zh };
