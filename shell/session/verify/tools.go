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

// Tools run programs of infiniband-diags at a port. The zero value lets them choose the port.
type Tools struct {
	CA   string // the adapter, "" where the programs are to choose
	Port int
	Env  []string // what their environment has beside the program's own
	Dir  string   // where they run, "" for here
}

// errMissing says that a program is not installed.
var errMissing = errors.New("not found on PATH nor in /usr/sbin")

// find returns the first of programs that is installed. Those of infiniband-diags are in /usr/sbin, which
// users' PATH may lack.
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

// endGrace is how long a program that was told to end may take.
const endGrace = 5 * time.Second

// bounds are what a program may take.
type bounds struct {
	time  time.Duration
	bytes int
}

// run returns what a program prints on standard output. Its error has what the program says of it.
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

// failure is in the line on standard output by which programs of infiniband-diags say why they end.
const failure = ": iberror: "

// reason is why a program failed, in its words.
func reason(out, said string) string {
	for line := range strings.Lines(out) {
		if _, why, ok := strings.Cut(line, failure); ok {
			return strings.TrimSpace(why)
		}
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return lines[len(lines)-1]
}
