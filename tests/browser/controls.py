# SPDX-License-Identifier: LGPL-2.1-or-later
"""The controls of the page of examples/web, used as people use them: by keys, by
mouse, on a phone, by day and by night.  Each waits for what it claims."""
import pathlib

from devtools import Failed

KEYS = {'Tab': (9, ''), 'Enter': (13, '\r'), ' ': (32, ' '), 'ArrowLeft': (37, '')}
PHONE = {'width': 360, 'height': 740, 'deviceScaleFactor': 2, 'mobile': True}
MIN_CONTRAST = 4.5              # WCAG 2.1, 1.4.3
MAX_TABS = 40                   # until the focus has gone round
SAID = ['Ann, Bob and Cy: here now.', 'Ann and Cy: mixed now.', '', 'Cy: gone.',
        'Bob: gone. Ann: separate now.', 'mute', '16 % left, 100 % ahead']
NEAR = 0.02                     # of the table's radius
LOOKS = pathlib.Path(__file__).with_name('looks.js').read_text(encoding='utf-8')


class Controls:
    """The hands and eyes of one who sits at a page."""

    def __init__(self, browser):
        self.browser = browser
        browser.run(LOOKS)
        browser.ask('Emulation.setFocusEmulationEnabled', enabled=True)
        self.emulate()

    def emulate(self, **media):
        """Media features; always: that nothing shall move, which would take half a second
        each time."""
        self.browser.ask('Emulation.setEmulatedMedia', features=[
            {'name': name.replace('_', '-'), 'value': value} for name, value in
            {'prefers_reduced_motion': 'reduce', **media}.items()])

    def wait_for(self, script, otherwise):
        return self.browser.wait_for(lambda: self.browser.evaluate(script), otherwise)

    def press(self, key):
        code, text = KEYS[key]
        for kind in ('keyDown' if text else 'rawKeyDown', 'keyUp'):
            self.browser.ask('Input.dispatchKeyEvent', type=kind, key=key, text=text,
                             code='Space' if key == ' ' else key,
                             windowsVirtualKeyCode=code)

    def press_on(self, element, key):
        self.browser.evaluate(f'{element}.focus()')
        self.press(key)

    def tab_through(self):
        """Each control once, by the Tab key alone; another round where who was separate
        is mixed meanwhile, and called so."""
        found = []

        def missing():
            self.browser.evaluate('document.activeElement.blur()')
            found.clear()
            for _ in range(MAX_TABS):
                self.press('Tab')
                at = self.browser.evaluate('looks.focused()')
                if at in found:
                    break
                found.extend([at] if at else [])
            return set(self.browser.evaluate('looks.controls()')) - set(found)

        try:
            self.browser.wait_for(lambda: not missing(), 'not all are reached')
        except Failed as error:
            raise Failed(f'the Tab key does not reach {missing()}, only {found}') from error

    def tree(self):
        """What a screen reader is given of the page."""
        return [n for n in self.browser.ask('Accessibility.getFullAXTree')['nodes']
                if not n['ignored']]

    def find_news(self):
        """(the node that has it, all by their number); None where later news took its place."""
        self.browser.evaluate('$("news").textContent = "Ann: gone."')
        nodes = {n['nodeId']: n for n in self.tree()}
        return next(((n, nodes) for n in nodes.values()
                     if n.get('name', {}).get('value') == 'Ann: gone.'), None)

    def check_news(self):
        """All that changes at once is said at once, and once, by what is told to be."""
        said = self.browser.evaluate('looks.said()')
        if said != SAID:
            raise Failed(f'a screen reader says {said}')
        text, nodes = self.browser.wait_for(self.find_news, 'a screen reader finds no news')
        around = nodes.get(text.get('parentId'), text)
        live = {p['name']: p['value'].get('value') for n in (text, around)
                for p in n.get('properties', ())}
        if live.get('live') != 'polite':
            raise Failed(f'a screen reader does not hear of news: {live}')

    def check_names(self, wanted):
        """@wanted: (role, what its name begins with), for a screen reader; waits for all at
        once: on a busy machine who was separate is mixed meanwhile."""
        nodes = []

        def missing():
            nodes[:] = [(n['role']['value'], n.get('name', {}).get('value', ''))
                        for n in self.tree()]
            return [(role, name) for role, name in wanted if not any(
                r == role and n.startswith(name) for r, n in nodes)]

        try:
            self.browser.wait_for(lambda: not missing(), 'not all are there')
        except Failed as error:
            raise Failed(f'a screen reader finds no {missing()}: {nodes}') from error
        if ('button', '') in nodes or ('image', '') in nodes:
            raise Failed(f'something has no name: {nodes}')

    def check_phone(self, what):
        """Nothing is wider than a phone, each control can be touched, and of eight people
        nothing lies upon another."""
        self.browser.ask('Emulation.setDeviceMetricsOverride', **PHONE)
        self.wait_for(f'screen.width === {PHONE["width"]}', 'no phone')
        self.wait_for('looks.nothingMoves()', 'faces do not come to rest')
        wrong = self.browser.evaluate('looks.outside()')
        if self.browser.evaluate('people.size') > 0:
            wrong += self.browser.evaluate('looks.crowd()')
        self.browser.ask('Emulation.clearDeviceMetricsOverride')
        self.wait_for(f'screen.width > {PHONE["width"]}', 'still a phone')
        if wrong:
            raise Failed(f'{what}, on a phone: {wrong}')

    def check_contrast(self, what):
        """Returns: {'light': the least of all texts, 'dark': ...}"""
        least = {}
        self.wait_for('looks.nothingMoves()', 'faces do not come to rest')
        for scheme in ('light', 'dark'):
            self.emulate(prefers_color_scheme=scheme)
            self.wait_for(f'matchMedia("(prefers-color-scheme: {scheme})").matches',
                          f'it does not become {scheme}')
            texts = self.browser.evaluate('looks.contrasts()')
            least[scheme] = min(texts, key=lambda text: text['contrast'])
            if least[scheme]['contrast'] < MIN_CONTRAST:
                raise Failed(f'{what}, {scheme}: hard to read: {least[scheme]}')
        self.emulate()
        return {scheme: text['contrast'] for scheme, text in least.items()}

    def mute(self, listener, tone):
        """By the space bar; @listener hears @tone no more, and then again."""
        for on, there in (('true', 0), ('false', 1)):
            self.press_on('$("mute")', ' ')
            self.wait_for(f'$("mute").getAttribute("aria-pressed") === "{on}"',
                          'the button does not tell')
            self.check_names([('button', 'Muted' if on == 'true' else 'Mute')])
            listener.wait_for(lambda look, there=there: len(look['loud'][tone]) == there,
                              'mute does nothing' if on == 'true' else 'still muted')

    def wait_for_place(self, ssrc, x, y):
        """The voice comes from there."""
        self.wait_for(f'looks.isHeardFrom({ssrc}, {x}, {y}, {NEAR})',
                      f'{ssrc} is not heard from {x}, {y}')

    def drag(self, ssrc, x, y):
        """By the mouse, to a place in table radii, once more where the face moved away before
        it was touched; then by a key, a bit to the left."""
        def is_dragged():
            here, there = self.browser.evaluate(f'looks.way({ssrc}, {x}, {y})')
            for kind, at in (('mousePressed', here), ('mouseMoved', here),
                             ('mouseMoved', there), ('mouseReleased', there),
                             ('mouseMoved', here)):
                self.browser.ask('Input.dispatchMouseEvent', type=kind, x=at[0], y=at[1],
                                 button='left', clickCount=1)
            return self.browser.evaluate(f'looks.sitsAt({ssrc}, {x}, {y}, {NEAR})')

        self.browser.wait_for(is_dragged, f'{ssrc} cannot be dragged to {x}, {y}')
        self.wait_for_place(ssrc, x, y)
        self.press_on(f'people.get({ssrc}).face', 'ArrowLeft')
        step = self.browser.evaluate('STEP')
        self.wait_for_place(ssrc, x - step, y)
        return x - step, y

    def keep(self, ssrc, on):
        """By the enter key; the server says that it knows."""
        self.press_on(f'people.get({ssrc}).pin', 'Enter')
        self.wait_for(f'picture.you.wishes.includes({ssrc}) === {on} && people.get('
                      f'{ssrc}).pin.getAttribute("aria-pressed") === "{on}"',
                      'the mixer does not hear the wish')

    def leave_and_return(self, name):
        """By keys alone."""
        self.press_on('$("leave")', 'Enter')
        self.wait_for('$("room").hidden && !$("door").hidden', 'he cannot leave')
        self.check_names([
            ('heading', 'A round table'), ('textbox', 'Your name'),
            ('combobox', 'Microphone'), ('textbox', 'Secret'), ('button', 'Sit down')])
        self.tab_through()
        self.check_phone('the door')
        self.check_contrast('the door')
        self.browser.evaluate('picture = undefined; $("name").value = ""; '
                              '$("name").focus()')
        self.browser.ask('Input.insertText', text=name)
        self.press('Enter')
        self.wait_for('picture && !$("room").hidden', 'he cannot come back')
