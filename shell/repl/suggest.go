// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"strings"
	"unicode"

	"example.org/ibconsole/shell/lang"
	"github.com/c-bata/go-prompt"
)

const (
	maxSuggestions = 200 // in the list
	maxShown       = 8   // at once
	minWidth       = 12  // columns to the right of the prompt that go-prompt needs
)

// suggester implements go-prompt's Completer by the completion of package lang.
type suggester struct {
	complete func(line string, cursor int) (int, []lang.Candidate)
	width    int // columns to the right of the prompt

	text, before string // of the last completed line
	shown        []prompt.Suggest
}

// suggest returns the suggestions for a line. The suggestions stay the same while the user chooses among them, as
// go-prompt requires.
func (s *suggester) suggest(d prompt.Document) []prompt.Suggest {
	before := d.TextBeforeCursor()
	choosing := isChoosing(d.LastKeyStroke())
	if d.Text == s.text && before == s.before && choosing && s.shown != nil {
		return s.shown
	}
	if d.Text == "" && !choosing || s.width < minWidth {
		s.text, s.before, s.shown = d.Text, before, nil
		return nil
	}
	start, candidates := s.complete(d.Text, len(before))
	s.text, s.before, s.shown = d.Text, before, suggestions(before, start, candidates)
	return s.shown
}

func isChoosing(k prompt.Key) bool {
	switch k {
	case prompt.Tab, prompt.BackTab, prompt.Up, prompt.Down:
		return true
	}
	return false
}

// suggestions converts candidates, which replace before[start:], to suggestions of go-prompt, which replace only the
// text after the last blank.
func suggestions(before string, start int, candidates []lang.Candidate) []prompt.Suggest {
	list := []prompt.Suggest{}
	if start > len(before) {
		return list
	}
	word := strings.LastIndexByte(before, ' ') + 1
	typed := before[start:]
	if len(candidates) == 1 && candidates[0].Text == typed {
		return list
	}
	for _, c := range candidates {
		text, ok := before[min(word, start):start]+c.Text, true
		if word > start {
			text, ok = strings.CutPrefix(c.Text, before[start:word])
		}
		if ok && strings.IndexFunc(text, unicode.IsControl) < 0 {
			list = append(list, prompt.Suggest{Text: text, Description: oneLine(c.Description)})
		}
		if len(list) == maxSuggestions {
			break
		}
	}
	return list
}

func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, s)
}
