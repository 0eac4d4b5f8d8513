// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/app/site"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/signals"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/repl"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/tui"
	"example.org/ibconsole/tui/draw"
)

// tui opens the screen. If the argument tour is set, it starts the tour, on a simulated subnet unless a source is
// given.
func (o *options) tui(tour bool) int {
	first := len(o.sources) == 0 && os.Getenv(source.Var) == ""
	if tour && first {
		o.sources = []string{tourSource}
	}
	ctx, stop := signals.Context()
	defer stop() // after the session is closed
	config, err := screenConfig(ctx)
	if err != nil {
		return o.misconfigured(err)
	}
	return o.connect(ctx, session.Options{Record: true, Later: true},
		func(ctx context.Context, s *shell.Subnets) error {
			ctx, stop := signals.WithoutInterrupts(ctx)
			defer stop()
			return tui.Run(ctx, tui.Options{
				Subnets: s, Start: true, Theme: o.theme, NoColor: o.noColor, Config: config, Save: createNew,
				Welcome: first && s.All()[0].Session().State().Source.Kind == source.Sim, Tour: tour,
				RunShell: func(ctx context.Context) error { return o.prompt(ctx, s, &config) },
				SeenKeys: stateFile("keys-seen"), LastPane: stateFile("pane"),
			})
		})
}

// tourSource is the default subnet of the tour, small enough to fit the screen.
const tourSource = "sim:fattree:2,12"

// screenConfig reads the user's configuration file, if it exists, and its skin.
func screenConfig(ctx context.Context) (tui.Config, error) {
	path := userConfig()
	if path == "" {
		return tui.Config{}, nil
	}
	config, err := files.Parse(ctx, path, files.Config.Regular(), func(r io.Reader, name string) (tui.Config, error) {
		return tui.ReadConfig(r, name, site.Reads)
	})
	if errors.Is(err, os.ErrNotExist) {
		return tui.Config{}, nil
	}
	if err != nil { // then all errors of the file
		_, others := site.Read(ctx, path)
		return config, errors.Join(err, others)
	}
	if config.Skin == "" {
		return config, nil
	}
	if !filepath.IsAbs(config.Skin) {
		config.Skin = filepath.Join(filepath.Dir(path), config.Skin)
	}
	config.Look, err = files.Parse(ctx, config.Skin, files.Config.Regular(), draw.ReadSkin)
	return config, err
}

// createNew creates a file that must not exist.
func createNew(name string) (io.WriteCloser, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

func (o *options) repl() int {
	ctx, stop := signals.Context()
	config, err := screenConfig(ctx)
	if stop(); err != nil {
		return o.misconfigured(err)
	}
	return o.open(true, func(ctx context.Context, s *shell.Subnets) error {
		if err := o.summary(ctx, s); err != nil {
			return err
		}
		return o.prompt(ctx, s, &config)
	})
}

// prompt runs the command line on subnets, with the aliases of a configuration. It handles signals itself.
func (o *options) prompt(ctx context.Context, sh *shell.Subnets, config *tui.Config) error {
	out := o.output()
	ctx, stop := signals.WithoutInterrupts(ctx)
	defer stop()
	return repl.Run(ctx, repl.Options{
		Complete: sh.Complete,
		Execute: func(ctx context.Context, line string) error {
			err := sh.Run(ctx, "line", config.Expand(line), out)
			if errors.Is(err, shell.ErrExit) {
				return repl.ErrExit
			}
			return err
		},
		Prompt:      sh.Prompt,
		HistoryFile: stateFile("commands"),
		Private:     shell.Private,
		In:          o.in,
		Err:         o.err,
		NoColor:     o.noColor,
	})
}

// signalOf returns the signal that caused the error, or 0 if no signal did.
func signalOf(err error) syscall.Signal {
	if ended, ok := errors.AsType[*signals.Error](err); ok {
		return ended.Signal
	}
	if errors.Is(err, syscall.EPIPE) { // noticed before the signal
		return syscall.SIGPIPE
	}
	return 0
}

// stateFile returns the path of a file of the state folder, or "" if there is no such folder.
func stateFile(name string) string {
	dir, err := history.Dir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, name)
}
