// SPDX-License-Identifier: Apache-2.0

package lang

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

const maxPending = 1 << 20 // the longest text of a statement that goes on over lines

// Lines reads statements as they come, line by line, and hands on those of each line. A statement whose
// quotes are open, or whose line ends in a backslash, goes on with the next line. It stops at run's first
// error, and with a [*SyntaxError] where the text ends inside a statement or one is too long.
func Lines(r io.Reader, name string, run func([]Statement) error) error {
	in := bufio.NewReader(r)
	pending, first := "", 1
	for number := 1; ; number++ {
		line, err := in.ReadString('\n')
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return fmt.Errorf("read %s: %w", name, err)
		}
		pending += line
		stmts, perr := Parse(name, pending)
		open := perr != nil || strings.HasSuffix(strings.TrimRight(pending, "\r\n"), `\`)
		switch {
		case open && !ended && len(pending) < maxPending:
			continue
		case perr != nil:
			if syntax, ok := errors.AsType[*SyntaxError](perr); ok {
				syntax.Line += first - 1
			}
			return perr
		}
		for i := range stmts {
			stmts[i].Line += first - 1
		}
		if err := run(stmts); err != nil || ended {
			return err
		}
		pending, first = "", number+1
	}
}
