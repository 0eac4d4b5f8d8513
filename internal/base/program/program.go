// SPDX-License-Identifier: Apache-2.0

// Package program runs other programs for what they print.
package program

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// Program is a program with its arguments, which no shell reads, and what it may take.
type Program struct {
	Path  string
	Args  []string
	Env   []string // nil for that of this process
	Dir   string   // "" for that of this process
	Time  time.Duration
	Bytes int           // of standard output
	Grace time.Duration // from the kill to the end of its output
}

// mostSaid is how much of standard error is kept, in bytes.
const mostSaid = 64 << 10

// Output runs the program and returns what it prints on standard output, and the beginning of what it prints on
// standard error. Its process group is killed when ctx ends or the program takes more than it may; the error is the
// cause then.
func (p *Program) Output(ctx context.Context) (out, said []byte, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.Time, fmt.Errorf("it took more than %v", p.Time))
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stdout := buffer{most: p.Bytes, full: func() { stop(fmt.Errorf("it printed more than %d bytes", p.Bytes)) }}
	stderr := buffer{most: mostSaid, full: func() {}}
	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = p.Env, p.Dir, p.Grace
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err = cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return stdout.text.Bytes(), stderr.text.Bytes(), err
}

// buffer keeps the first bytes that are written to it, and calls full when there are more. Write is its only method:
// what reads from a source by itself, as bytes.Buffer does, gets round the limit.
type buffer struct {
	text bytes.Buffer
	most int
	full func()
}

func (b *buffer) Write(p []byte) (int, error) {
	room := b.most - b.text.Len()
	if len(p) > room {
		b.full()
	}
	_, _ = b.text.Write(p[:min(len(p), room)])
	return len(p), nil
}
