// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"context"
	"errors"

	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/shell/lang"
)

func runFileCommand() Spec {
	return Spec{Name: "run", Summary: "run the commands of a file", Run: runFile,
		Help: "It stops at the first command that fails. A file cannot run another one.",
		Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile}}}
}

// running marks the context of the commands of a file.
type running struct{}

func runFile(c *call) error {
	if c.ctx.Value(running{}) != nil {
		return errors.New("a file cannot run another one")
	}
	text, err := files.All(c.ctx, c.Arg(0), files.Script)
	if err != nil {
		return err
	}
	name := quoteFile(c.Arg(0))
	stmts, err := lang.Parse(name, string(text))
	if err != nil {
		return err
	}
	if err := c.shell.mustName(stmts); err != nil {
		return err
	}
	err = c.shell.Execute(context.WithValue(c.ctx, running{}, true), name, stmts, c.out)
	if errors.Is(err, ErrExit) {
		return nil
	}
	return err
}
