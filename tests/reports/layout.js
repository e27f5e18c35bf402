// Problems of a page's layout: overlapping texts, texts that are cut without an ellipsis, broken names, sideways scrolling.
() => {
  const problems = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) problems.push(`scrolls sideways: ${root.scrollWidth} > ${root.clientWidth}`);
  const hidden = element => {
    for (let e = element; e; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.display === "none" || style.visibility === "hidden" || style.opacity === "0") return true;
      if (style.position === "fixed" || style.position === "sticky") return true;  // floats above what scrolls below
      if (e.matches("[popover], dialog, [hidden], .skip, .md-search, .md-sidebar, .md-top")) return true;
    }
    return !element.checkVisibility();
  };
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.data.trim() || node.parentElement.closest("script, style, svg, math, option") || hidden(node.parentElement)) continue;
    const range = document.createRange();
    const vertical = getComputedStyle(node.parentElement).writingMode !== "horizontal-tb";
    const clip = { left: -1e6, right: 1e6, top: -1e6, bottom: 1e6 };  // what scrolls or has an ellipsis hides the rest
    let cut = false;
    for (let e = node.parentElement; e && e !== document.body; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.overflowX === "visible" || style.display === "inline") continue;
      const frame = e.getBoundingClientRect();
      if (style.overflowX === "hidden" && style.textOverflow !== "ellipsis" && e.scrollWidth > e.clientWidth + 1) cut = true;
      for (const side of ["left", "top"]) clip[side] = Math.max(clip[side], frame[side]);
      for (const side of ["right", "bottom"]) clip[side] = Math.min(clip[side], frame[side]);
    }
    if (cut) problems.push(`cut: ${node.data.trim().slice(0, 60)}`);
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const [left, right] = [Math.max(box.left, clip.left), Math.min(box.right, clip.right)];
      const [top, bottom] = [Math.max(box.top, clip.top), Math.min(box.bottom, clip.bottom)];
      if (right - left > 2 && bottom - top > 2) boxes.push({ node, rect: { left, right, top, bottom }, text: node.data.trim().slice(0, 40) });
    }
    if (!vertical && node.parentElement.closest("th, td, .named, h2, h3")) {
      for (const word of node.data.matchAll(/[\p{L}\p{N}]{2,}/gu)) {  // names may break at hyphens and underscores
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].filter(r => r.width > 1).map(r => Math.round(r.top)));
        if (lines.size > 1) problems.push(`broken: ${word[0]}`);
      }
    }
  }
  boxes.sort((a, b) => a.rect.top - b.rect.top);
  boxes.forEach((a, index) => {
    for (let next = index + 1; next < boxes.length && boxes[next].rect.top < a.rect.bottom - 3; next++) {
      const b = boxes[next];
      if (a.node === b.node || a.node.parentElement.contains(b.node) && b.node.parentElement === a.node.parentElement) continue;
      const width = Math.min(a.rect.right, b.rect.right) - Math.max(a.rect.left, b.rect.left);
      const height = Math.min(a.rect.bottom, b.rect.bottom) - Math.max(a.rect.top, b.rect.top);
      if (width > 2 && height > 4) problems.push(`overlap: ${a.text} / ${b.text}`);
    }
  });
  return [...new Set(problems)];
}
