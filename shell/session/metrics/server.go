// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
)

// Path is where a [Server] serves the metrics.
const Path = "/metrics"

// ErrBusy is returned by a [Source] that cannot answer now; the status is 503.
var ErrBusy = errors.New("busy")

// Source writes the metrics, as OpenMetrics where open is set. It calls begin before it writes; an error before that
// becomes a status, a later one cuts the connection. Its context ends when the client is gone or the server closed.
type Source func(ctx context.Context, open bool, begin func() io.Writer) error

// Server serves metrics over HTTP.
type Server struct {
	http   *http.Server
	cancel context.CancelFunc
	ended  chan struct{}
}

const (
	requestTime  = 5 * time.Second // for a request to arrive, and between two of a connection
	responseTime = time.Minute     // for a response to be sent
	largestHead  = 8 << 10         // bytes of the header of a request
)

// Serve serves metrics on a listener until Close, which closes that.
func Serve(l net.Listener, source Source) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, gzhttp.GzipHandler(handler(source)))
	s := &Server{cancel: cancel, ended: make(chan struct{}), http: &http.Server{
		Handler: mux, ReadTimeout: requestTime, WriteTimeout: responseTime, IdleTimeout: requestTime,
		MaxHeaderBytes: largestHead,
		BaseContext:    func(net.Listener) context.Context { return ctx },
		ErrorLog:       log.New(io.Discard, "", 0),
	}}
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(l) // returns when Close is called
	}()
	return s
}

// Close stops at once. A response that is being sent is cut.
func (s *Server) Close() error {
	s.cancel()
	err := s.http.Close()
	<-s.ended
	return err
}

func handler(source Source) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		open := strings.Contains(r.Header.Get("Accept"), "application/openmetrics-text")
		begun := false
		begin := func() io.Writer {
			begun = true
			w.Header().Set("Content-Type", contentType(open))
			return w
		}
		err := source(r.Context(), open, begin)
		switch {
		case err == nil:
		case begun:
			panic(http.ErrAbortHandler) // so that a part is not taken for the whole
		case errors.Is(err, ErrBusy):
			http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
		default:
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		}
	}
}

func contentType(open bool) string {
	if open {
		return "application/openmetrics-text; version=1.0.0; charset=utf-8"
	}
	return "text/plain; version=0.0.4; charset=utf-8"
}
