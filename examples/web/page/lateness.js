// SPDX-License-Identifier: LGPL-2.1-or-later
// Which slots a browser plays late although nothing is late any more.
'use strict';

const LATE_S = 0.060;           // more than usual
const USUAL_SHARE = 1 / 16;     // of the latest second in what is usual
const PAUSE_PACKETS = 5;        // a second: Opus sends 2 or 3 while its talker is silent (DTX)

// A browser holds each packet for as long as the latest ones of the last 10 to 20 s would
// have needed, and where nothing comes it learns nothing.  So a voice that was late while
// a link filled, and then went into the mix, would come back as late.
class Lateness {
  constructor() {
    this.usual = 0.040;
    this.last = new Map();      // slot: its totals
    this.before = [];           // the slots that were heard in the second before
    this.late = new Set();      // slots that have learnt to be late
  }

  // totals: {packets, emitted, target, delay} of each slot, as getStats() counts them, once
  // a second.  Who goes into the mix soon after the link filled was held for long before
  // the target shows it.  Returns the slots that were late and are silent: they may forget.
  // There are none where the browser does not tell its targets.
  look(totals) {
    const heard = [], silent = [], targets = [0];
    for (const [slot, now] of totals) {
      const was = this.last.get(slot);
      this.last.set(slot, now);
      if (!was) continue;
      (now.packets > was.packets + PAUSE_PACKETS ? heard : silent).push(slot);
      if (now.emitted > was.emitted && now.target >= was.target)
        targets.push(Math.max(now.target - was.target, now.delay - was.delay) /
          (now.emitted - was.emitted));
    }
    const target = Math.max(...targets);
    if (target > this.usual + LATE_S)
      for (const slot of [...heard, ...this.before]) this.late.add(slot);
    if (target > 0) this.usual += USUAL_SHARE * (target - this.usual);
    this.before = heard;
    return silent.filter(slot => this.late.delete(slot));
  }
}
