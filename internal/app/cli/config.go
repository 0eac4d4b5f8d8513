// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"example.org/ibconsole/internal/app/site"
	"example.org/ibconsole/mad/umad"
	"example.org/ibconsole/shell/session/source"
)

// config holds the configuration of the user and of the administrator.
type config struct {
	site.Config             // both; the user's values take precedence
	own, admins site.Config // each of its own
}

// config reads both.
func (o *options) config(ctx context.Context) (c config, err error) {
	if o.site != "" {
		if c.admins, err = site.Read(ctx, o.site); err != nil {
			return c, err
		}
	}
	if path := userConfig(); path != "" {
		c.own, err = site.Read(ctx, path)
		if errors.Is(err, fs.ErrPermission) { // HOME belongs to another user, as after setpriv
			err = nil
		}
		if err != nil {
			return c, err
		}
	}
	c.Config = c.own.Over(c.admins)
	return c, nil
}

// mayWrite returns an error if the configuration of the administrator or of the user forbids writing. The user's
// configuration cannot permit what the administrator's forbids.
func (c *config) mayWrite() error { return errors.Join(c.admins.MayWrite(), c.own.MayWrite()) }

// from returns the default source.
func (c *config) from(held *umad.HeldDevices) (name, note string) {
	if c.Source != "" && os.Getenv(source.Var) == "" {
		return c.Source, ""
	}
	return source.Default(held)
}

// userConfig returns the path of the user's configuration file, or "" if the user has no configuration directory.
func userConfig() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "ibconsole", "config")
}
