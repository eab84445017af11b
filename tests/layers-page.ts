import { drawLayers, importGraph } from './layers.ts';

const block = /```mermaid\n[\s\S]*?```/;

/** The page with the drawing of the layers as they are now. `root` is the directory of the repository. */
export const withDrawing = (page: string, root: string): string =>
  page.replace(block, () => `\`\`\`mermaid\n${drawLayers(importGraph(root))}\`\`\``);
