// npm install ratesmith @opentelemetry/api @opentelemetry/sdk-metrics && npm pkg set type=module
// node opentelemetry.ts
//
// Counts events and measures the duration of upstream calls with OpenTelemetry.
import { metrics } from '@opentelemetry/api'
import {
  ConsoleMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { createRates } from 'ratesmith'
import type { RatesEvent } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

// Your app already has this part, with an OTLP exporter instead of the console.
const reader = new PeriodicExportingMetricReader({ exporter: new ConsoleMetricExporter() })
const meterProvider = new MeterProvider({ readers: [reader] })
metrics.setGlobalMeterProvider(meterProvider)

const meter = metrics.getMeter('rates')
const events = meter.createCounter('rates.events', { description: 'Events by type and data set' })
const duration = meter.createHistogram('rates.upstream.duration', { unit: 'ms' })

function count(event: RatesEvent): void {
  const attributes = 'dataSet' in event ? { 'rates.data_set': event.dataSet } : {}
  events.add(1, { 'rates.event': event.type, ...attributes })
  if (event.type === 'upstream_response' || event.type === 'upstream_failed') {
    duration.record(event.elapsed, { 'rates.provider': event.provider, ...attributes })
  }
}

const rates = createRates({ providers: fakeProviders(), onEvent: count })
await rates.convert({ from: 'USD', to: 'EUR' })
await rates.history({ from: 'USD', to: 'EUR' })
await meterProvider.shutdown()
