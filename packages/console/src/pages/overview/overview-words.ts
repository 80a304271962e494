/** The texts of what needs attention. They load with their page, because the first load of other pages is full. */
const en = {
  title: 'Needs attention',
  none: 'Nothing needs attention.',
  uploadsPaused: 'The disk is full. Uploads are refused. Free disk space: {free}.',
  workPaused: 'The disk is nearly full. Documents are not processed until space is free. Free disk space: {free}.',
  embedder: 'The embedding model does not answer. Search uses words until it does.',
  failed: 'Documents that failed, in all projects: {count}.',
  plugin: 'The last runs of {plugin} failed: {failed} of the latest {all}.',
  keyEnds: 'The API key “{name}” ends {time}.',
  keyEnded: 'The API key “{name}” ended {time}.',
  axis: '{name}: lowest {low}, highest {high}, last {last}',
  now: 'now',
  start: '{time} ago',
} as const;

const zh: Readonly<Record<keyof typeof en, string>> = {
  title: '需要处理',
  none: '没有需要处理的事项。',
  uploadsPaused: '磁盘已满，上传被拒绝。可用磁盘空间：{free}。',
  workPaused: '磁盘空间即将用尽，释放空间之前不会处理文档。可用磁盘空间：{free}。',
  embedder: '嵌入模型没有响应。在其恢复之前，搜索仅使用词语。',
  failed: '所有项目中处理失败的文档：{count}。',
  plugin: '{plugin} 最近的运行失败：最近 {all} 次中有 {failed} 次。',
  keyEnds: 'API 密钥“{name}”将于{time}到期。',
  keyEnded: 'API 密钥“{name}”已于{time}到期。',
  axis: '{name}：最低 {low}，最高 {high}，最近 {last}',
  now: '现在',
  start: '{time}前',
};

export const overviewWords: Readonly<Record<'en' | 'zh', typeof zh>> = { en, zh };
