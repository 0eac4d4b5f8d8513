// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// Config holds the settings of a configuration file. The zero value changes nothing.
type Config struct {
	Theme   string              // one of [draw.Themes], or ""
	Skin    string              // the file, "" for none
	Look    *draw.Skin          // the contents of that file, nil for none
	NoMouse bool                // leaves the mouse to the terminal
	Pane    string              // has the focus at the start: a name, "last", or "" for the default
	Keys    map[string][]string // by action; other actions keep their keys that no line of the file takes
	Binds   []Bind
	Columns map[string][]string // the heads of the columns to show, by the name of the pane
	Aliases map[string]string   // the start of a command by the word that stands for it
}

// ReadConfig reads a configuration file:
//
//	# a comment
//	theme light
//	skin /home/me/skin.yaml
//	mouse off
//	pane last
//	key trace-from = t ctrl+t
//	key sweep =
//	bind f5 = changes since=20m
//	bind f6 = ! ping -c 3 $NODE
//	alias w = who uses
//	columns LFT = LID, next hop, port
//
// A key is a character or a name such as up, space, ctrl+r or f5. An action that the file names has only these keys.
// Other actions lose the keys that the file takes; only quit, help and escape must keep one. For bind see [Bind].
// ReadConfig skips lines for which the function others reports true. This function may be nil. Errors have the form
// name:line and contain the expected value. A key that the file uses twice is an error, too.
func ReadConfig(r io.Reader, name string, others func(line string) bool) (Config, error) {
	c := Config{Keys: map[string][]string{}, Aliases: map[string]string{}, Columns: map[string][]string{}}
	where := map[string]int{}
	err := files.Lines(r, name, func(line string, n int) error {
		if others != nil && others(line) {
			return nil
		}
		action, err := c.take(line)
		if action != "" {
			where[action] = n
		}
		for i := range c.Binds {
			c.Binds[i].line = cmp.Or(c.Binds[i].line, n)
		}
		return err
	})
	if err != nil {
		return Config{}, err
	}
	return c, c.conflict(name, where)
}

// The method take parses a line. If the line defines the keys of an action, it returns the action.
func (c *Config) take(line string) (string, error) {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "theme":
		if !slices.Contains(draw.Themes, rest) {
			return "", fmt.Errorf("unknown theme %q, expected one of %s", rest, strings.Join(draw.Themes, ", "))
		}
		c.Theme = rest
	case "skin":
		if rest == "" {
			return "", errors.New("skin without a file")
		}
		c.Skin = rest
	case "mouse":
		if rest != "on" && rest != "off" {
			return "", fmt.Errorf("mouse is %q, expected on or off", rest)
		}
		c.NoMouse = rest == "off"
	case "pane":
		return "", c.takePane(rest)
	case "key":
		return c.takeKey(rest)
	case "bind":
		return "", c.takeBind(rest)
	case "alias":
		return "", c.takeAlias(rest)
	case "columns":
		return "", c.takeColumns(rest)
	default:
		return "", fmt.Errorf("unknown word %q, expected theme, skin, mouse, pane, key, bind, alias or columns", word)
	}
	return "", nil
}

func (c *Config) takeKey(text string) (string, error) {
	name, keys, found := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !found {
		return "", fmt.Errorf("expected key ACTION = KEYS, found %q", text)
	}
	if !slices.ContainsFunc(keymap(), func(a pane.Action) bool { return a.Name == name }) {
		return "", fmt.Errorf("unknown action %q (docs/keys.md lists all actions)", name)
	}
	list := []string{}
	for k := range strings.FieldsSeq(keys) {
		key, err := parseKey(k)
		if err != nil {
			return "", err
		}
		list = append(list, key)
	}
	if len(list) == 0 && mustHaveKey(name) {
		return "", fmt.Errorf("%s must have a key", name)
	}
	c.Keys[name] = list
	return name, nil
}

// namedKeys are the names of keys that are not characters.
var namedKeys = []string{
	"up", "down", "left", "right", "enter", "esc", "tab", "shift+tab", "backspace", "delete", "insert", "home", "end",
	"pgup", "pgdown",
	"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12",
}

func parseKey(k string) (string, error) {
	lower := strings.ToLower(k)
	rest, ctrl := strings.CutPrefix(lower, "ctrl+")
	alt, isAlt := strings.CutPrefix(k, "alt+")
	switch {
	case lower == "space":
		return " ", nil
	case slices.Contains(namedKeys, lower):
		return lower, nil
	case ctrl && len(rest) == 1 && rest[0] >= 'a' && rest[0] <= 'z':
		return lower, nil
	case isAlt && utf8.RuneCountInString(alt) == 1:
		return k, nil
	case utf8.RuneCountInString(k) == 1 && k != "\ufffd" && k[0] >= 0x20:
		return k, nil
	}
	return "", fmt.Errorf("unknown key %q, expected a character, space, ctrl+LETTER, alt+CHARACTER or one of %s",
		k, strings.Join(namedKeys, ", "))
}

// conflict returns an error if two lines of the file use the same key, or if an action that must have a key has none.
func (c *Config) conflict(name string, where map[string]int) error {
	owner, actions := map[string]string{}, c.rebound(keymap())
	for _, a := range actions {
		if len(a.Keys()) == 0 && mustHaveKey(a.Name) {
			return fmt.Errorf("%s: %s has no key left; bind it to another key: key %s = KEY", name, a.Name, a.Name)
		}
		for _, k := range a.Keys() {
			owner[k] = a.Name
		}
	}
	if k, a, b := sharedKey(actions); k != "" {
		return fmt.Errorf("%s:%d: key %s is assigned to %s and to %s", name, max(where[a], where[b]),
			draw.PlainKeyName(k), a, b)
	}
	for _, b := range c.Binds {
		if other := owner[b.Key]; other != "" {
			return fmt.Errorf("%s:%d: key %s is assigned to %s and to %s", name, max(b.line, where[other]),
				draw.PlainKeyName(b.Key), other, b.Text)
		}
		owner[b.Key] = b.Text
	}
	return nil
}

// sharedKey returns a key that two actions have in the same pane, and the names of these actions. It returns "" if
// there is no such key.
func sharedKey(actions []pane.Action) (key, first, second string) {
	owners := map[string][]*pane.Action{}
	for i := range actions {
		a := &actions[i]
		for _, k := range a.Keys() {
			for _, b := range owners[k] {
				if a.Panes == nil || b.Panes == nil ||
					slices.ContainsFunc(a.Panes, func(name string) bool { return slices.Contains(b.Panes, name) }) {
					return k, b.Name, a.Name
				}
			}
			owners[k] = append(owners[k], a)
		}
	}
	return "", "", ""
}

func mustHaveKey(action string) bool {
	return action == "quit" || action == "help" || action == "escape"
}

// rebound gives actions the keys of the file. Actions that the file does not name lose the keys that it takes.
func (c *Config) rebound(actions []pane.Action) []pane.Action {
	taken := map[string]bool{}
	for _, keys := range c.Keys {
		for _, k := range keys {
			taken[k] = true
		}
	}
	for _, b := range c.Binds {
		taken[b.Key] = true
	}
	for i := range actions {
		a := &actions[i]
		keys, named := c.Keys[a.Name]
		if !named {
			keys = slices.DeleteFunc(slices.Clone(a.Keys()), func(k string) bool { return taken[k] })
		}
		a.SetKeys(keys...)
	}
	return actions
}
