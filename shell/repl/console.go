// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/c-bata/go-prompt"
	"github.com/mattn/go-runewidth"
)

// shared holds the only console of the process. A second console would leak a file, because go-prompt never closes the
// file that a Prompt opens.
var shared struct {
	sync.Mutex
	console *console
}

func runConsole(ctx context.Context, o *Options) error {
	if !shared.TryLock() {
		return errors.New("a console is already open on this terminal")
	}
	defer shared.Unlock()
	if shared.console == nil {
		c, err := newConsole()
		if err != nil {
			return err
		}
		shared.console = c
	}
	return shared.console.run(ctx, o)
}

// console is a go-prompt Prompt with the keyboard and the screen of this package.
type console struct {
	keyboard  *keyboard
	screen    *screen
	suggester *suggester
	prompt    *prompt.Prompt
	prefix    string // the prompt
	before    string // the line up to the cursor when go-prompt was woken
}

func newConsole() (c *console, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("open the terminal: %v", r)
		}
	}()
	c = &console{keyboard: &keyboard{}, screen: newScreen(), suggester: &suggester{}}
	c.screen.replacement = c.truncatedLine
	c.prompt = prompt.New(func(string) {}, c.suggester.suggest,
		prompt.OptionParser(c.keyboard),
		prompt.OptionWriter(c.screen),
		prompt.OptionLivePrefix(func() (string, bool) { return c.prefix, true }),
		prompt.OptionSetExitCheckerOnInput(c.mustReturn),
		prompt.OptionAddKeyBind(c.bindings()...),
		prompt.OptionPrefixTextColor(prompt.DefaultColor),
		prompt.OptionPreviewSuggestionTextColor(prompt.DefaultColor),
		prompt.OptionSuggestionTextColor(prompt.Black),
		prompt.OptionSuggestionBGColor(prompt.LightGray),
		prompt.OptionDescriptionTextColor(prompt.Black),
		prompt.OptionDescriptionBGColor(prompt.LightGray),
		prompt.OptionSelectedSuggestionTextColor(prompt.White),
		prompt.OptionSelectedSuggestionBGColor(prompt.DarkBlue),
		prompt.OptionSelectedDescriptionTextColor(prompt.White),
		prompt.OptionSelectedDescriptionBGColor(prompt.DarkBlue),
		prompt.OptionScrollbarThumbColor(prompt.DarkGray),
		prompt.OptionScrollbarBGColor(prompt.LightGray),
	)
	return c, nil
}

func (c *console) bindings() []prompt.KeyBind {
	return []prompt.KeyBind{
		{Key: prompt.F24, Fn: func(b *prompt.Buffer) {
			c.before = b.Document().TextBeforeCursor()
			c.keyboard.onWake()
		}},
		{Key: prompt.ControlD, Fn: func(*prompt.Buffer) { c.keyboard.onCtrlD() }},
		{Key: prompt.ControlLeft, Fn: func(b *prompt.Buffer) {
			b.CursorLeft(len([]rune(b.Document().GetWordBeforeCursorWithSpace())))
		}},
		{Key: prompt.ControlRight, Fn: func(b *prompt.Buffer) {
			b.CursorRight(len([]rune(b.Document().GetWordAfterCursorWithSpace())))
		}},
	}
}

// mustReturn reports whether go-prompt must return from Input, which is so after the wakeKey. It also hides what
// go-prompt draws then.
func (c *console) mustReturn(string, bool) bool {
	if !c.keyboard.isAwake() {
		return false
	}
	c.screen.mute()
	return true
}

// truncatedLine returns the row that is shown instead of a line that is longer than the window.
func (c *console) truncatedLine() string {
	_, columns := windowSize(c.keyboard.out)
	return c.prefix + tail(c.suggester.before, int(columns)-runewidth.StringWidth(c.prefix)-1)
}

// consoleTerminal implements [lineTerminal] for a console.
type consoleTerminal struct{ *keyboard }

func (f consoleTerminal) restore() { _ = f.TearDown() }

func (c *console) run(ctx context.Context, o *Options) error {
	if err := c.keyboard.open(int(o.In.Fd()), int(o.Out.Fd())); err != nil {
		return fmt.Errorf("read the mode of the terminal: %w", err)
	}
	f := consoleTerminal{c.keyboard}
	defer f.restore()
	c.screen.noColor = o.NoColor
	c.suggester.complete = o.Complete
	h, err := openHistory(o.HistoryFile)
	h.private = o.Private
	o.report(ctx, err)
	l := startLoop(ctx, o, f)
	defer l.stop()
	for l.ctx.Err() == nil {
		line, how, err := c.readLine(o.Prompt(), h)
		switch how {
		case endedByEOF:
			return nil
		case endedByClose:
			return closed(l.ctx, err)
		}
		o.report(ctx, h.add(line))
		if err := l.execute(line); errors.Is(err, ErrExit) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return context.Cause(l.ctx)
}

// closed returns the error after reading a line ended: the cause of ctx or a failure of the terminal. It returns nil if
// the terminal was closed, which is the end of input.
func closed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("read the terminal: %w", err)
	}
	return nil
}

// readLine reads a line from the user.
func (c *console) readLine(prefix string, h *history) (string, inputEnd, error) {
	c.prefix = oneLine(prefix)
	_ = prompt.OptionHistory(h.recent())(c.prompt)
	for {
		rows, columns := windowSize(c.keyboard.out)
		_ = prompt.OptionMaxSuggestion(min(maxShown, max(rows, 3)-2))(c.prompt)
		c.suggester.width = int(columns) - runewidth.StringWidth(c.prefix)
		line := c.prompt.Input()
		how, err := c.keyboard.ended()
		if how == endedByLine || how == endedByEOF {
			return line, how, nil
		}
		_, columns = windowSize(c.keyboard.out)
		c.screen.unmute()
		c.screen.rewind(runewidth.StringWidth(c.prefix+c.before), int(columns))
		if how == endedByClose {
			return "", how, err
		}
	}
}
