// SPDX-License-Identifier: Apache-2.0

// Package program runs other programs and returns their output.
package program

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// Program is a program to run, with its arguments and limits. No shell interprets the arguments.
type Program struct {
	Path  string
	Args  []string
	Env   []string // nil for the environment of this process
	Dir   string   // "" for the directory of this process
	Time  time.Duration
	Bytes int           // of standard output
	Grace time.Duration // from the kill to the end of its output
}

// maxStderr is the maximum number of bytes of standard error that are kept.
const maxStderr = 64 << 10

// Output runs the program and returns its standard output, and the beginning of its standard error. If ctx ends or the
// program exceeds a limit, Output kills the process group and returns the cause as the error.
func (p *Program) Output(ctx context.Context) (out, errText []byte, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.Time, fmt.Errorf("it took more than %v", p.Time))
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stdout := buffer{most: p.Bytes, full: func() { stop(fmt.Errorf("it printed more than %d bytes", p.Bytes)) }}
	stderr := buffer{most: maxStderr, full: func() {}}
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

// buffer keeps the first bytes written to it, and calls full if there are more. It has no ReadFrom method, as
// bytes.Buffer has, because io.Copy would use it and bypass the limit.
type buffer struct {
	text bytes.Buffer
	most int
	full func()
}

func (b *buffer) Write(p []byte) (int, error) {
	free := b.most - b.text.Len()
	if len(p) > free {
		b.full()
	}
	_, _ = b.text.Write(p[:min(len(p), free)])
	return len(p), nil
}
