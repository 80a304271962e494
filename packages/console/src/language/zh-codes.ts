import type { Codes } from './explain-error.ts';

/**
 * The Chinese form of each error of the service, by its code. `{message}` is the English message, where it contains
 * more than the code. The codes are those of docs/reference/errors.md.
 */
export const codes: Codes = {
  INVALID_REQUEST: '请求格式有误：{message}',
  APIKEY_VALIDATION_FAILED: 'API 密钥无效。',
  CREDENTIALS_VALIDATION_ERROR: '第三方拒绝了所给的凭据：{message}',
  SESSION_VALIDATION_FAILED: '用户名或密码有误，或会话已结束。',
  PERMISSION_DENIED: '没有执行此操作的权限：{message}',
  OBJECT_NOT_FOUND: '找不到该对象：{message}',
  METHOD_NOT_ALLOWED: '此地址不支持该方法。',
  REQUEST_TIMEOUT: '请求发送得太慢，已中断。',
  DUPLICATE_OBJECT: '对象已存在或正在使用：{message}',
  FILE_TOO_LARGE: '超过大小上限：{message}',
  UNSUPPORTED_MEDIA_TYPE: '不支持此内容类型：{message}',
  RANGE_NOT_SATISFIABLE: '请求的范围超出文件。',
  REQUEST_VALIDATION_ERROR: '有字段缺失、类型不符或超出范围：{message}',
  RUN_CANCELLED: '运行在结束前被取消。',
  TOO_MANY_REQUESTS: '请求过多或队列已满，请稍后再试：{message}',
  RESOURCE_LIMIT_REACHED: '配额或容量已用完：{message}',
  INTERNAL_SERVER_ERROR: '服务内部出错；可凭请求编号在日志中查找。',
  PLUGIN_FAILED: '插件自身出错：{message}',
  NOT_CONFIGURED: '运营者尚未配置此功能：{message}',
  PROVIDER_ERROR: '第三方出错、响应无法使用或无法连接：{message}',
  PROVIDER_REJECTED: '第三方拒绝了此请求：{message}',
  PROVIDER_RATE_LIMITED: '第三方限制了请求频率，请稍后再试：{message}',
  SERVICE_UNAVAILABLE: '服务正在启动、停止或无法连接数据库，请稍后再试。',
  PLUGIN_TIMEOUT: '插件或第三方未在时限内响应：{message}',
  INSUFFICIENT_STORAGE: '磁盘空间不足，上传内容未被保存。',

  empty_question: '问题单元格为空。',
  empty_answer: '答案单元格为空。',
  too_long: '问题与答案合计超过 65,535 个字符。',
  bad_cell: '单元格中是公式的错误值。',
  extra_columns: '该行的单元格多于表头的列数：含分隔符的单元格需要加引号。',
  duplicate_in_file: '文件的另一行已有此问题或此 ID。',
  duplicate_in_collection: '集合中的另一个文档已有此问题或此 ID。',

  file_empty: '文件为空。',
  file_encrypted: '文件受密码保护。请输入密码以读取文件。',
  password_wrong: '密码不正确，请重新输入。',
  file_damaged: '无法读取文件。请用原程序打开并重新保存，再上传新文件。',
  file_type_mismatch: '内容与文件名所示的格式不符。请以正确的格式重新保存文件。',
  no_text: '文档已读取，但没有文字（扫描件或空白页）。',
  undecodable: '无法读取文件中的字符。请另存为 UTF-8 后重新上传。',
  columns_not_found: '找不到问题列和答案列。请选择列，然后重新导入。',
  no_rows: '表格中没有同时包含问题和答案的行。',
  capacity_exceeded: '集合已满，没有空间存放此文档的片段。请删除文档或片段，或使用另一个集合。',
  time_limit: '读取时间超过上限。',
  memory_limit: '读取所用内存超过上限。',
  unpacked_limit: '文档解压后超过上限：{message}',
  parser_crashed: '读取此格式的程序在该文档上崩溃。',

  cancelled: '处理过程中被取消。',
  content_damaged: '文件的已存内容已损坏或无法读取。请重新上传相同内容，然后重新处理该文档。',
  file_missing: '文件在读取之前已被删除。',
  internal_error: '服务多次处理失败，请重新处理。',
  page_refused: '不允许抓取该页面的地址：{message}',
  page_unreachable: '无法访问该页面，请检查网址。',
  page_status: '页面的服务器没有返回页面：{message}',
  page_too_large: '页面超过大小上限：{message}',
  quota_exceeded: '项目的存储空间不足。请删除文件或文档，然后重试。',
  storage_limit: '片段占用的存储空间与文本不成比例。请增大片段、减少重叠或缩短标题。',
  unsupported_content: '无法读取此类型的页面。',
};

/** The same for a field of a request, by its name. */
export const fields: Codes = {
  columns: '未找到问题列和预期列。请在此选择。',
  content: '内容与文件名不符。请用原程序打开文件，并以文件名所示的格式保存。',
  url: '请输入完整的网址，例如 https://example.com/help。',
};
