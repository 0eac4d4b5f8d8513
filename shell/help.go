// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"io"

	"example.org/ibconsole/shell/lang"
)

func helpCommands() []Spec {
	return []Spec{
		{Name: "help", Summary: "list the commands, or explain one",
			Args: []lang.Arg{{Name: "COMMAND", Kind: lang.KindCommand, Optional: true, Repeat: true}}, Run: runHelp},
		{Name: "exit", Summary: "leave", Run: func(*call) error { return ErrExit }},
		{Name: "quit", Summary: "leave", Run: func(*call) error { return ErrExit }},
	}
}

func runHelp(c *call) error {
	text, err := c.shell.Help(c.Args...)
	if err != nil {
		return err
	}
	return c.out.Answer(helpAnswer{text})
}

type helpAnswer struct {
	Help string `json:"help"`
}

func (a helpAnswer) Text(w io.Writer) { _, _ = io.WriteString(w, a.Help) }

// Help explains the command that words name; without any it lists them all.
func (sh *Shell) Help(words ...string) (string, error) { return lang.Help(sh.specs, words...) }
