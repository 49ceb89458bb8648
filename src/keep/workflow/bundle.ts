/** A bundle of its own: YAML and Liquid are loaded only when a workflow is read. */
export { parseFrontMatter } from './front-matter.ts'
export { renderTemplate } from './template.ts'
