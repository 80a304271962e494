/** The texts of the embedding models. They load with their page, because the first load of other pages is full. */
const en = {
  title: 'Search by meaning',
  about:
    'With an embedding model, search also finds text that says the same in other words. The model runs on this server: no text is sent to a provider, and there is no fee.',
  notMeasured:
    'Sizes and licences are those that the publishers of the models state. The models were not tried when this version was built. Check with your own questions how well they find answers.',
  obstacle: 'You cannot choose a model here',
  facts: '{languages} · {dimensions} dimensions · {size} · licence {licence}',
  languages: '{count} languages',
  english: 'English',
  in_use: 'in use',
  former: 'former model',
  downloaded: 'downloaded',
  use: 'Use',
  end: 'End use',
  confirmTitle: 'Use {model}?',
  confirmDownload:
    'The server downloads {size} from {source}, and the runtime for local models (290 MB) if it is missing. Licence: {licence}.',
  confirmEmbed:
    'Then it embeds all collections of all projects in the background, without a restart. Until a collection is complete, search answers as before.',
  embedding: 'Embedding the collections in the background.',
  complete: 'Finished. Collections: {all}. The page of a collection names texts that the model refused.',
  runtime: 'Installing the runtime for local models.',
  download: 'Downloading {model}.',
  trial: 'Trying {model}.',
  failed: '{model} is not in use',
} as const;

const zh: Readonly<Record<keyof typeof en, string>> = {
  title: '按含义搜索',
  about:
    '使用嵌入模型后，搜索还能找到用其他词语表达相同意思的文本。模型在本服务器上运行：文本不会发送给任何服务商，也不产生费用。',
  notMeasured:
    '大小和许可证以模型发布者的说明为准。构建此版本时未试用这些模型。请用您自己的问题检查它们找到答案的效果。',
  obstacle: '无法在此选择模型',
  facts: '{languages} · {dimensions} 维 · {size} · 许可证 {licence}',
  languages: '{count} 种语言',
  english: '英语',
  in_use: '使用中',
  former: '先前的模型',
  downloaded: '已下载',
  use: '使用',
  end: '停止使用',
  confirmTitle: '使用 {model}？',
  confirmDownload:
    '服务器将从 {source} 下载 {size}；如果缺少本地模型的运行环境，还会下载它（290 MB）。许可证：{licence}。',
  confirmEmbed: '然后在后台为所有项目的所有集合生成向量，无需重启。在集合完成之前，搜索照旧回答。',
  embedding: '正在后台为集合生成向量。',
  complete: '已处理完毕，集合数：{all}。集合页面会列出被模型拒绝的文本。',
  runtime: '正在安装本地模型的运行环境。',
  download: '正在下载 {model}。',
  trial: '正在试用 {model}。',
  failed: '{model} 未投入使用',
};

export const modelWords: Readonly<Record<'en' | 'zh', typeof zh>> = { en, zh };
