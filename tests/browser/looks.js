// SPDX-License-Identifier: LGPL-2.1-or-later
// How a page of examples/web looks, for a test.
'use strict';

const looks = {
  TOUCH_PX: 24,                 // WCAG 2.2, 2.5.8

  controls() {
    return [...document.querySelectorAll('button, input, select')]
      .filter(e => e.checkVisibility()).map(this.name);
  },

  focused() {
    const at = document.activeElement;
    return at && at !== document.body ? this.name(at) : null;
  },

  name(element) {
    return element.getAttribute('aria-label') || element.id || element.textContent;
  },

  nothingMoves() {
    return document.getAnimations().length === 0;
  },

  // From the middle of a face to where its person sits at x, y
  way(ssrc, x, y) {
    const face = people.get(ssrc).face.getBoundingClientRect();
    const table = $('table').getBoundingClientRect();
    return [[face.x + face.width / 2, face.y + face.height / 2],
      [table.x + (x + 1.35) / 2.7 * table.width, table.y + (1.2 - y) / 2.4 * table.height]];
  },

  sitsAt(ssrc, x, y, near) {
    const person = people.get(ssrc);
    return Math.abs(person.x - x) < near && Math.abs(person.y - y) < near;
  },

  isHeardFrom(ssrc, x, y, near) {
    const slot = sound.slots[sound.heard().findIndex(s => String(s) === String(ssrc))];
    return slot && slot.place.panningModel === 'HRTF' &&
      Math.abs(slot.place.positionX.value - x) < near &&
      Math.abs(slot.place.positionZ.value + y) < near;
  },

  // Eight come to an empty table one after the other, and so many of them are mixed: what
  // of one lies upon what of another
  crowd() {
    const real = picture, past = history, found = [];
    const ssrcs = [...Array(8).keys()], still = document.createElement('style');
    still.textContent = '* { transition: none !important; }';
    document.head.append(still);
    show({...real, people: []});
    for (let mixed = 0; mixed <= ssrcs.length; mixed++) {
      show({...real, people: ssrcs.map(ssrc => ({ssrc, name: `Nobody ${ssrc}`})),
        you: {...real.you, wishes: [], mixed: ssrcs.slice(0, mixed)}});
      const boxes = [...people.values()].map(({item, name}) => ({name, boxes: this.boxes(item)}));
      boxes.forEach((one, n) => boxes.slice(0, n).forEach(other => {
        for (const a of one.boxes) for (const b of other.boxes) {
          if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
            found.push(`${mixed} mixed: ${one.name} ${JSON.stringify(a)}, ` +
              `${other.name} ${JSON.stringify(b)}`);
        }
      }));
    }
    show(real);
    history = past;
    still.remove();
    return found;
  },

  // What a screen reader is given to say, while three come at once, two are mixed, one
  // leaves, who has the focus (who has it then?), and the last is moved
  said() {
    const real = picture, past = history, said = [];
    const names = {1: 'Ann', 2: 'Bob', 3: 'Cy'};
    const tell = (ssrcs, mixed) => {
      $('news').textContent = '';
      show({...real, people: ssrcs.map(ssrc => ({ssrc, name: names[ssrc]})),
        you: {...real.you, wishes: [], mixed}});
      said.push($('news').textContent);
    };
    show({...real, people: []});
    tell([1, 2, 3], []);
    tell([1, 2, 3], [1, 3]);
    tell([1, 2, 3], [1, 3]);
    tell([1, 2], [1]);
    people.get(2).face.focus();
    tell([1], []);
    said.push(document.activeElement.id);
    moveTo(people.get(1), -0.22, 1);
    const {face} = people.get(1);
    face.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}));
    said.push(face.ariaValueText);
    for (const name of Object.values(names)) delete localStorage['place ' + name];
    show(real);
    history = past;
    return said;
  },

  // Of all that is seen of a person
  boxes(item) {
    return [...item.children].filter(e => e.checkVisibility({checkOpacity: true}))
      .map(e => e.getBoundingClientRect());
  },

  // What cannot be touched, or is wider than the screen
  outside() {
    const wrong = [], width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width) {
      wrong.push(`${document.documentElement.scrollWidth} px wide`);
    }
    for (const e of document.querySelectorAll('button, input, select')) {
      if (!e.checkVisibility()) continue;
      // "keep" of a mixed one shows when his face has been touched
      if (getComputedStyle(e).pointerEvents === 'none') {
        e.parentElement.querySelector('.face').focus();
      }
      e.scrollIntoView({block: 'center', behavior: 'instant'});
      const box = e.getBoundingClientRect();
      const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
      if (box.x < 0 || box.right > width || !e.contains(at) ||
          Math.min(box.width, box.height) < this.TOUCH_PX) {
        wrong.push(`${this.name(e)}: ${JSON.stringify(box)}, there is ${at?.outerHTML}`);
      }
    }
    return wrong;
  },

  // [{text, contrast}]: of each text with what is behind it, at both ends and between
  contrasts() {
    const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode, parent = node.parentElement;
      if (!node.data.trim() || parent.closest('.unseen, script, select') ||
          !parent.checkVisibility({checkOpacity: true})) continue;
      parent.scrollIntoView({block: 'center', behavior: 'instant'});
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) {
        for (const x of [box.left + 1, (box.left + box.right) / 2, box.right - 1]) {
          const behind = this.behind(x, (box.top + box.bottom) / 2);
          found.push({text: node.data.trim(), contrast: this.contrast(
            this.over(this.rgba(getComputedStyle(parent).color), behind), behind)});
        }
      }
    }
    return found;
  },

  // Any CSS colour as 0 ... 255 and its opacity, 0 ... 1
  rgba(color) {
    this.canvas ??= new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
    this.canvas.clearRect(0, 0, 1, 1);
    this.canvas.fillStyle = color;
    this.canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = this.canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  },

  over([r, g, b, a], below) {
    return [r, g, b].map((c, n) => a * c + (1 - a) * below[n]);
  },

  behind(x, y) {
    return document.elementsFromPoint(x, y).reverse().reduce((below, e) =>
      this.over(this.rgba(getComputedStyle(e).backgroundColor), below), [255, 255, 255]);
  },

  // WCAG 2.1, relative luminance
  contrast(one, other) {
    const [dark, light] = [one, other].map(rgb => {
      const [r, g, b] = rgb.map(c => c / 255).map(
        c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    }).sort((a, b) => a - b);
    return Math.round(100 * (light + 0.05) / (dark + 0.05)) / 100;
  },
};
