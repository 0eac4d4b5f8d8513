// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/internal/base/prose"
)

// maxWrong is the largest number of errors of one file that [Lines] lists.
const maxWrong = 5

// Lines calls the function take with each line of a configuration file and its number. Blank lines and comments that
// begin with # are left out. Lines joins the errors of the first wrong lines, each as name:line, and counts the others.
func Lines(r io.Reader, name string, take func(line string, n int) error) error {
	var wrong []error
	n, more := 0, 0
	note := func(n int, err error) {
		if len(wrong) == maxWrong {
			more++
			return
		}
		wrong = append(wrong, fmt.Errorf("%s:%d: %w", name, n, err))
	}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		n++
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := take(line, n); err != nil {
			note(n, err)
		}
	}
	if err := lines.Err(); err != nil {
		note(n+1, err)
	}
	if more > 0 {
		wrong = append(wrong, fmt.Errorf("%s: %s wrong", name, prose.Verb(more, "further line", "is", "are")))
	}
	return errors.Join(wrong...)
}
