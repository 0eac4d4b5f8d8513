// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/c-bata/go-prompt"

	"example.org/ibconsole/internal/base/prose"
)

const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"

	keyEnter    = '\r'
	keyCtrlC    = 0x03
	keyCtrlD    = 0x04
	keyEscape   = 0x1b
	keyDelete   = 0x7f
	maxSequence = 32 // bytes of an escape sequence
)

// keys splits the bytes from a terminal into keys for go-prompt. A key is a control character, a known escape sequence,
// or a run of text. Every end of line becomes keyEnter. Only text and ends of lines are kept from a bracketed paste.
type keys struct {
	pending []byte
	pasting bool
}

func (k *keys) add(b []byte) { k.pending = append(k.pending, b...) }

func (k *keys) clear() { *k = keys{} }

// next returns the next key, or nil if no key is complete. The argument idle means that the terminal has sent nothing
// for a while, so an incomplete sequence counts as complete.
func (k *keys) next(idle bool) []byte {
	for len(k.pending) > 0 {
		n, key := k.split(idle)
		if n == 0 {
			return nil
		}
		k.pending = k.pending[n:]
		if len(key) > 0 {
			return key
		}
	}
	return nil
}

// split returns the number of bytes of the first key, or 0 if the key is incomplete. It also returns the key for
// go-prompt; an empty key is dropped.
func (k *keys) split(idle bool) (int, []byte) {
	if k.pasting {
		return k.splitPaste(idle)
	}
	switch c := k.pending[0]; {
	case c == keyEscape:
		return k.splitSequence(idle)
	case c == '\r' || c == '\n':
		return endOfLine(k.pending), []byte{keyEnter}
	case c == 0:
		return 1, nil
	case c < ' ' || c == keyDelete:
		return 1, []byte{c}
	}
	return splitText(k.pending, idle)
}

func endOfLine(b []byte) int { return prose.When(bytes.HasPrefix(b, []byte("\r\n")), 2, 1) }

// splitPaste waits for the end of the paste, so that no command starts before the paste is complete.
func (k *keys) splitPaste(idle bool) (int, []byte) {
	end := bytes.Index(k.pending, []byte(pasteEnds))
	if end < 0 && !idle {
		return 0, nil
	}
	if end == 0 {
		k.pasting = false
		return len(pasteEnds), nil
	}
	if end < 0 {
		end = len(k.pending)
	}
	switch n := bytes.IndexAny(k.pending[:end], "\r\n"); {
	case n == 0:
		return endOfLine(k.pending), []byte{keyEnter}
	case n > 0:
		end = n
	}
	return end, cleanText(k.pending[:end])
}

func splitText(b []byte, idle bool) (int, []byte) {
	n := bytes.IndexFunc(b, func(r rune) bool { return r < ' ' || r == keyDelete })
	if n < 0 {
		n = len(b)
		if !idle {
			n -= partialRune(b)
		}
	}
	return n, cleanText(b[:n])
}

// partialRune returns the number of bytes of the incomplete rune at the end of b, or 0 if there is none.
func partialRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// cleanText returns printable text. A tab becomes a blank, control characters are dropped, and invalid UTF-8 becomes
// U+FFFD.
func cleanText(b []byte) []byte {
	return bytes.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return -1
	}, b)
}

func (k *keys) splitSequence(idle bool) (int, []byte) {
	n := sequenceLength(k.pending)
	if n == 0 && !idle && len(k.pending) <= maxSequence {
		return 0, nil
	}
	if n == 0 || n > maxSequence {
		// This is not a sequence, but the Escape key and text after it.
		return 1, k.pending[:1:1]
	}
	sequence := k.pending[:n:n]
	switch string(sequence) {
	case pasteBegins:
		k.pasting = true
		return n, nil
	case pasteEnds:
		return n, nil
	}
	switch prompt.GetKey(sequence) {
	case prompt.NotDefined, prompt.F24: // see wakeKey
		return n, nil
	}
	return n, sequence
}

// sequenceLength returns the length of the escape sequence at the start of b, or 0 if the sequence is incomplete. A
// sequence has parameters, intermediates and a final byte (ECMA-48, 5.4). SS3 and Alt have only one more character.
func sequenceLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '[':
		return controlSequenceLength(b)
	case 'O':
		if len(b) < 3 {
			return 0
		}
		return 3
	case keyEscape:
		return 1
	}
	if !utf8.FullRune(b[1:]) {
		return 0
	}
	_, n := utf8.DecodeRune(b[1:])
	return 1 + n
}

func controlSequenceLength(b []byte) int {
	if len(b) > 2 && b[2] == '[' { // the function keys of the Linux console
		if len(b) < 4 {
			return 0
		}
		return 4
	}
	for i := 2; i < len(b); i++ {
		switch {
		case b[i] >= 0x40 && b[i] <= 0x7e:
			return i + 1
		case b[i] < 0x20 || b[i] > 0x7e: // broken off
			return i
		}
	}
	return 0
}
