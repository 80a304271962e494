/** 与 en-imports.ts 相同的文本。 */
export const imports = {
  'imports.kind': '添加什么',
  'imports.piece': '软件包',
  'imports.openapi': 'API（OpenAPI 文档）',
  'imports.mcp': 'MCP 服务器',
  'imports.archive': '插件包归档（.qmb）',
  'imports.url': 'URL',
  'imports.documentAbout': 'OpenAPI 文档（2.0、3.0 或 3.1）的 URL，或选择文件。',
  'imports.server': 'API 的 URL（如果文档中没有）',
  'imports.operations': '仅这些操作，例如 listThings, getThing',
  'imports.tools': '仅这些工具，例如 search, create',
  'imports.access': '服务器要求',
  'imports.none': '无',
  'imports.bearer': 'Bearer 令牌',
  'imports.header': '请求头',
  'imports.headerName': '请求头名称',
  'imports.credential': '凭据名称',
  'imports.value': '值，仅用于列出一次工具，不会保存。',
  'imports.archiveAbout': '由 “bundle pack” 生成的文件。',
  'imports.noFile': '移除文件',
  'imports.planning': '正在读取要添加的内容，可能需要一分钟。',
  'imports.files': '大小',
  'imports.publisher': '发布者',
  'imports.unknown': '此归档的发布者不受信任。请将密钥与发布者公布的密钥进行比较。',
  'imports.unsigned': '此归档未签名，无人为其担保。',
  'imports.badHost': '请输入新主机的名称，例如 api.example.com，不含 https:// 和路径。',
  'imports.noLicence': '未说明',
  'imports.accept': '我知道此归档的来源',
} as const;

/** `risk` 的译文，按计划的 `kind`。 */
export const risks = {
  piece: '恶意集成可能在上述主机范围内滥用您借给它的账户。它无法读取机密，也无法访问其他主机、项目或运行。',
  archive: '恶意插件包的代码可能在上述主机范围内滥用您借给它的账户。它无法读取凭据，也无法访问其他主机、项目或运行。',
  openapi: '此插件包没有代码。其调用仅将输入和凭据发送到上述主机。',
  mcp: '服务器会得到输入和凭据，其回答会到达模型。如果服务器以后更改某个工具的描述，该工具会被拒绝。',
} as const;
