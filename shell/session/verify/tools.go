// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"example.org/ibconsole/internal/base/program"
)

// Tools runs programs of infiniband-diags at a port. With the zero value, the programs choose the port.
type Tools struct {
	CA   string // the adapter, "" if the programs choose
	Port int
	Env  []string // added to the environment of this program
	Dir  string   // where they run, "" for here
}

// errMissing is returned if a program is not installed.
var errMissing = errors.New("not found on PATH nor in /usr/sbin")

// find returns the path of the first of several programs that is installed. The programs of infiniband-diags are in
// /usr/sbin, which may be missing in a user's PATH.
func find(names ...string) (string, error) {
	for _, name := range names {
		for _, try := range []string{name, filepath.Join("/usr/sbin", name)} {
			if path, err := exec.LookPath(try); err == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%s: %w", strings.Join(names, " or "), errMissing)
}

// endGrace is the maximum time that a program may take to end.
const endGrace = 5 * time.Second

// bounds holds the limits of the run time and of the output of a program.
type bounds struct {
	time  time.Duration
	bytes int
}

// run returns the standard output of a program. If the program fails, the error contains its message.
func (t *Tools) run(ctx context.Context, most bounds, path string, args ...string) ([]byte, error) {
	if t.CA != "" {
		args = append([]string{"-C", t.CA, "-P", fmt.Sprint(t.Port)}, args...)
	}
	p := program.Program{Path: path, Args: args, Env: append(os.Environ(), t.Env...), Dir: t.Dir, Time: most.time,
		Bytes: most.bytes, Grace: endGrace}
	out, said, err := p.Output(ctx)
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		return out, fmt.Errorf("%s: %w: %s", strings.Join(append([]string{path}, args...), " "), err,
			reason(string(out), string(said)))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// failure is the text that marks an error on standard output: programs of infiniband-diags print the reason why they
// end after this text.
const failure = ": iberror: "

// reason returns the reason why a program failed, from its output.
func reason(out, said string) string {
	for line := range strings.Lines(out) {
		if _, why, ok := strings.Cut(line, failure); ok {
			return strings.TrimSpace(why)
		}
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return lines[len(lines)-1]
}
